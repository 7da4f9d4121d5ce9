"""What lives in the cluster by itself: scheduler, kubelets, and the controllers of objects."""

from reconciler.sandbox.controllers.all import Controllers as Controllers
