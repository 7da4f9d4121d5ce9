// Recorder answers cases with Kubernetes' own libraries: one JSON object a line, the question in
// "case", the answer in "real".  To record again, for another version in go.mod:
//
//	go run . < cases.jsonl > new.jsonl && mv new.jsonl cases.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

type question struct {
	Op          string          `json:"op"`
	ApiVersion  string          `json:"apiVersion,omitempty"`
	Kind        string          `json:"kind,omitempty"`
	Manager     string          `json:"manager,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
	Text        string          `json:"text,omitempty"`
	Force       bool            `json:"force,omitempty"`
	Live        json.RawMessage `json:"live,omitempty"`
	Obj         json.RawMessage `json:"obj,omitempty"`
}

type answer map[string]any

var types = applyconfigurations.NewTypeConverter(scheme.Scheme)

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var line struct {
			Case question `json:"case"`
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			panic(err)
		}
		text, err := json.Marshal(map[string]any{"case": line.Case, "real": ask(line.Case)})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}

func ask(q question) answer {
	got, err := dispatch(q)
	if err != nil {
		return answer{"error": err.Error()}
	}
	return got
}

func dispatch(q question) (answer, error) {
	switch q.Op {
	case "quantity":
		return quantity(q)
	case "labels":
		return labelQuery(q)
	case "fields":
		_, err := fields.ParseSelector(q.Text)
		return answer{}, err
	case "strategic":
		return strategic(q)
	}
	return managed(q)
}

func quantity(q question) (answer, error) {
	amount, err := resource.ParseQuantity(q.Text)
	if err != nil {
		return nil, err
	}
	return answer{"printed": amount.String()}, nil
}

func labelQuery(q question) (answer, error) {
	selector, err := labels.Parse(q.Text)
	if err != nil {
		return nil, err
	}
	var sets []labels.Set
	if err := json.Unmarshal(q.Obj, &sets); err != nil {
		return nil, err
	}
	matches := []bool{}
	for _, set := range sets {
		matches = append(matches, selector.Matches(set))
	}
	return answer{"matches": matches}, nil
}

func strategic(q question) (answer, error) {
	kind := schema.FromAPIVersionAndKind(q.ApiVersion, q.Kind)
	shape, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	patched, err := strategicpatch.StrategicMergePatch(q.Live, q.Obj, shape)
	return answer{"object": json.RawMessage(patched)}, err
}

// managed answers apply and update as the API server's field manager does, without defaulting.
func managed(q question) (answer, error) {
	kind := schema.FromAPIVersionAndKind(q.ApiVersion, q.Kind)
	live, err := typed(kind, q.Live)
	if err != nil {
		return nil, err
	}
	version := kind.GroupVersion()
	reset := map[fieldpath.APIVersion]fieldpath.Filter{
		fieldpath.APIVersion(q.ApiVersion): fieldpath.NewExcludeSetFilter(resetBy(q)),
	}
	s := scheme.Scheme
	fm, err := managedfields.NewDefaultFieldManager(types, s, s, s, kind, version, q.Subresource, reset)
	if err != nil {
		return nil, err
	}
	var result runtime.Object
	if q.Op == "update" {
		obj, err := typed(kind, q.Obj)
		if err != nil {
			return nil, err
		}
		if result, err = fm.Update(live, obj, q.Manager); err != nil {
			return nil, err
		}
	} else {
		applied := &unstructured.Unstructured{}
		if err := json.Unmarshal(q.Obj, &applied.Object); err != nil {
			return nil, err
		}
		if result, err = fm.Apply(live, applied, q.Manager, q.Force); err != nil {
			return nil, err
		}
	}
	return owners(live, result)
}

func resetBy(q question) *fieldpath.Set {
	if q.Subresource == "" {
		return fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	}
	return fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec"),
		fieldpath.MakePathOrDie("metadata", "deletionTimestamp"),
		fieldpath.MakePathOrDie("metadata", "ownerReferences"),
	)
}

// owners gives the managedFields of the result, with every new time as "now", and the rest of it.
func owners(live, result runtime.Object) (answer, error) {
	before, err := meta.Accessor(live)
	if err != nil {
		return nil, err
	}
	after, err := meta.Accessor(result)
	if err != nil {
		return nil, err
	}
	known := map[int64]bool{}
	for _, entry := range before.GetManagedFields() {
		if entry.Time != nil {
			known[entry.Time.Unix()] = true
		}
	}
	listed := []map[string]any{}
	for _, entry := range after.GetManagedFields() {
		listed = append(listed, plain(entry, known))
	}
	after.SetManagedFields(nil)
	return answer{"managedFields": listed, "object": result}, nil
}

func plain(entry metav1.ManagedFieldsEntry, known map[int64]bool) map[string]any {
	text, err := json.Marshal(entry)
	if err != nil {
		panic(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		panic(err)
	}
	if entry.Time != nil && !known[entry.Time.Unix()] {
		fields["time"] = "now"
	}
	return fields
}

func typed(kind schema.GroupVersionKind, raw json.RawMessage) (runtime.Object, error) {
	obj, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, obj); err != nil {
			return nil, err
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(kind)
	return obj, nil
}
