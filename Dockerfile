# The image of `gamekeeper run`: small, and nobody's root.
# tests/e2e/test_packaging.py takes the same steps without a container engine.
ARG PYTHON=python:3.11-slim

FROM ${PYTHON} AS build
WORKDIR /src
COPY requirements.lock requirements-dev.lock pyproject.toml README.md ./
RUN python -m venv /build && python -m venv /opt/gamekeeper \
    && /opt/gamekeeper/bin/pip install --no-cache-dir --require-hashes -r requirements.lock \
    && /build/bin/pip install --no-cache-dir --require-hashes -r requirements-dev.lock
COPY reconciler reconciler
COPY schemas schemas
COPY templates templates
COPY deploy/image.sh deploy/image.sh
RUN sh deploy/image.sh /build/bin/python /opt/gamekeeper

FROM ${PYTHON}
RUN apt-get update && apt-get install -y --no-install-recommends git openssh-client gpg gpg-agent \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home gamekeeper
COPY --from=build /opt/gamekeeper /opt/gamekeeper
ENV PATH=/opt/gamekeeper/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
ENTRYPOINT ["gamekeeper"]
CMD ["run"]
