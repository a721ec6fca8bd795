# The command `cambio` in a small image: for clusters, and for machines without Rust.
#
#     docker build -t cambio .
#     docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" cambio run experiments/quickstart.toml --out runs/quickstart
#
# `cambio serve` listens on the loopback address alone, so it needs the network of the machine: `docker run --network host`.
# Features of the command (`--build-arg FEATURES=parquet,zstd`) are off, as they are by default.

FROM rust:1.95-slim-trixie AS build
ARG FEATURES=
WORKDIR /cambio
COPY . .
# The versions of the lock file, and no others.
RUN cargo build --profile dist --locked --package cambio-cli --bin cambio --features "$FEATURES" \
    && strip target/dist/cambio

FROM debian:trixie-slim
COPY --from=build /cambio/target/dist/cambio /usr/local/bin/cambio
COPY --from=build /cambio/LICENSE-APACHE /cambio/LICENSE-MIT /usr/share/doc/cambio/
# A number, so that a cluster that asks for one that is not root's can tell.
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["cambio"]
CMD ["--help"]
