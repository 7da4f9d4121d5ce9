// Command informer prints what a client-go informer sees of the pods of one namespace, one JSON
// object a line, until its standard input ends.
package main

import (
	"encoding/json"
	"flag"
	"io"
	"log"
	"os"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type sight struct {
	Event           string `json:"event"`
	Name            string `json:"name,omitempty"`
	UID             string `json:"uid,omitempty"`
	Phase           string `json:"phase,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Count           int    `json:"count"`
}

type printer struct {
	lock  sync.Mutex
	lines *json.Encoder
}

func (p *printer) say(event string, pod *corev1.Pod, count int) {
	seen := sight{Event: event, Count: count}
	if pod != nil {
		seen.Name, seen.UID = pod.Name, string(pod.UID)
		seen.Phase, seen.ResourceVersion = string(pod.Status.Phase), pod.ResourceVersion
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if err := p.lines.Encode(seen); err != nil {
		log.Fatal(err)
	}
}

func (p *printer) deleted(gone any) {
	if unseen, missed := gone.(cache.DeletedFinalStateUnknown); missed {
		gone = unseen.Obj
	}
	if pod, ok := gone.(*corev1.Pod); ok {
		p.say("delete", pod, 0)
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the kubeconfig file")
	namespace := flag.String("namespace", "default", "the namespace to watch")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	// The pods are asked for as JSON: protobuf is another test's business.
	config.ContentType = "application/json"
	config.AcceptContentTypes = "application/json"
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	watch(clients, *namespace)
}

func watch(clients kubernetes.Interface, namespace string) {
	out := &printer{lines: json.NewEncoder(os.Stdout)}
	factory := informers.NewSharedInformerFactoryWithOptions(
		clients, 0, informers.WithNamespace(namespace))
	pods := factory.Core().V1().Pods().Informer()
	registration, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(made any) { out.say("add", made.(*corev1.Pod), 0) },
		UpdateFunc: func(_, live any) { out.say("update", live.(*corev1.Pod), 0) },
		DeleteFunc: out.deleted,
	})
	if err != nil {
		log.Fatal(err)
	}
	stop := make(chan struct{})
	factory.Start(stop)
	if !cache.WaitForCacheSync(stop, registration.HasSynced) {
		log.Fatal("the informer never synced")
	}
	out.say("synced", nil, len(pods.GetStore().ListKeys()))
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		log.Fatal(err)
	}
	close(stop)
	factory.Shutdown()
}
