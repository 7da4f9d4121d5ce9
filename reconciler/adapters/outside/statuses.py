"""The port `Statuses`: the API of the code host that keeps the repository."""

from dataclasses import dataclass

import orjson

from reconciler.adapters.outside.exchange import Answer, Exchange, Question
from reconciler.adapters.outside.posting import post, secret_of
from reconciler.core.code_hosts import Host, Hosted, Unhosted, proof_of, request_of
from reconciler.model.errors import Misconfigured
from reconciler.model.notifications import Verdict

_PENDING_ALREADY = b"Cannot transition status via :enqueue from :pending"


@dataclass(frozen=True, slots=True)
class Signboard:
    """Where statuses are set and under which name; the token is read at each of them."""

    hosted: Hosted
    context: str
    token_file: str
    target_url: str = ""


class HttpStatuses:
    """Sets statuses at one repository of one code host."""

    def __init__(self, exchange: Exchange, board: Signboard) -> None:
        self._exchange = exchange
        self._board = board

    @property
    def kind(self) -> str:
        """Which kind of code host."""
        return str(self._board.hosted.host)

    async def set(self, verdict: Verdict) -> None:
        """Set the status of a commit. Raises Unavailable, Denied, Misconfigured."""
        board = self._board
        try:
            request = request_of(board.hosted, verdict, board.context, board.target_url)
        except Unhosted as error:
            raise Misconfigured(str(error)) from error
        token = secret_of(board.token_file, "the token for commit statuses")
        headers = {**request.headers, **proof_of(board.hosted.host, token)}
        body = orjson.dumps(request.body)
        question = Question(self.kind, request.url, headers, body)
        await post(self._exchange, question, self._stands_already)

    async def close(self) -> None:
        """End what is open."""
        await self._exchange.close()

    def _stands_already(self, answer: Answer) -> bool:
        """Whether it is GitLab's refusal of a status "pending" that it has (its issue 25807).

        Whoever lost the first answer, or leads next, sets it again.
        """
        is_gitlab = self._board.hosted.host is Host.GITLAB
        return is_gitlab and answer.status == 400 and _PENDING_ALREADY in answer.body
