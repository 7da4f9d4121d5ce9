"""`gamekeeper rbac`: the roles that a configuration needs, to be applied by an administrator."""

from argparse import ArgumentParser, Namespace

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_output, add_own, add_settings, own_of, settings_of
from reconciler.cli.output import print_json, print_yaml
from reconciler.core.grants import Needs, manifests
from reconciler.kube.names import label_problem
from reconciler.setting_rows import Row
from reconciler.settings import Settings
from reconciler.wiring.permits import content_kinds_of, copy_from_of, kinds_of

EXAMPLE = """\
gamekeeper rbac --rooms-listen 0.0.0.0:8090     # what deploy/gamekeeper.yaml has
gamekeeper rbac --rooms-listen 0.0.0.0:8090 --allow-kinds ConfigMap | kubectl apply -f -"""

ACCOUNT = Row(
    "account",
    str,
    "",
    "",
    "service account that gets them, as NAMESPACE/NAME (default: gamekeeper in --namespace)",
    command="rbac",
)


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_own(parser, ACCOUNT)
    add_output(parser, "yaml", "json")
    add_settings(
        parser,
        "namespace",
        "lease",
        "allow_kinds",
        "copy_from_namespaces",
        "namespace_content_kinds",
        "rooms_listen",
    )


def run(arguments: Namespace, console: Console) -> int:
    """Print them; no cluster is asked."""
    settings = settings_of(arguments, console.environment)
    account = _account(own_of(arguments, console.environment, ACCOUNT), settings)
    made = manifests(
        Needs(
            settings.namespace,
            account,
            kinds_of(settings),
            content_kinds_of(settings),
            hears=bool(settings.rooms_listen),
            leads=settings.lease,
            copies=copy_from_of(settings),
        )
    )
    if arguments.output == "json":
        print_json(console, {"apiVersion": "v1", "kind": "List", "items": made})
    else:
        print_yaml(console, made)
    return 0


def _account(text: str, settings: Settings) -> tuple[str, str]:
    namespace, _, name = (text or f"{settings.namespace}/gamekeeper").partition("/")
    for part in (namespace, name):
        problem = label_problem(part) if part else "one of the two is missing"
        if problem:
            raise Failure(
                f'--account "{text}" is no service account: {problem}',
                "Write it as NAMESPACE/NAME.",
            )
    return namespace, name
