# The hook server's image. Nothing of the checkout but the package goes into it.
FROM python:3.13-slim AS build
WORKDIR /build
COPY requirements/runtime.txt requirements/dev.txt requirements/
RUN python -m venv /opt/noderotation \
    && /opt/noderotation/bin/python -m pip install --no-cache-dir --require-hashes -r requirements/runtime.txt
# Built apart, by the pinned backend, so that none of it reaches the image.
RUN python -m venv /opt/backend \
    && /opt/backend/bin/python -m pip install --no-cache-dir --require-hashes -r requirements/dev.txt
COPY pyproject.toml README.md ./
COPY hooks hooks
RUN /opt/backend/bin/python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
    && /opt/noderotation/bin/python -m pip install --no-cache-dir --no-deps --no-index dist/*.whl

FROM python:3.13-slim
COPY --from=build /opt/noderotation /opt/noderotation
ENV PATH=/opt/noderotation/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
EXPOSE 8080 8443
CMD ["noderotation", "serve"]
