# A small image with the command `cambio`, for clusters and for machines without Rust.
#
#     docker build -t cambio .
#     docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" cambio run experiments/quickstart.toml --out runs/quickstart
#
# `cambio serve` listens only on the loopback address, so it needs the network of the host: `docker run --network host`.

FROM rust:1.95-slim-trixie AS build
WORKDIR /cambio
COPY . .
# `--locked` uses exactly the dependency versions of Cargo.lock.
RUN cargo build --profile dist --locked --package cambio-cli --bin cambio \
    && strip target/dist/cambio

FROM debian:trixie-slim
COPY --from=build /cambio/target/dist/cambio /usr/local/bin/cambio
COPY --from=build /cambio/LICENSE-APACHE /cambio/LICENSE-MIT /usr/share/doc/cambio/
# A numeric user, so that a cluster can verify that it is not root (`runAsNonRoot`).
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["cambio"]
CMD ["--help"]
