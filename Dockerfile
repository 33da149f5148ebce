# The image as `npm run image` makes it, for those who have a container engine: docker build -t orch .
# The upper layer is made by the same script; the lower one is Node on the libraries it is linked with.
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json .swcrc ./
RUN npm ci --no-audit --no-fund
COPY scripts scripts
COPY proto proto
COPY apps apps
COPY libs libs
RUN node scripts/setup.mjs \
  && node scripts/image/build.mjs --app-directory /out \
  && mkdir -p /out/usr/bin && cp -L node_modules/.bin/node /out/usr/bin/node

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /out/ /
ENV PATH=/opt/orch/bin:/usr/bin NODE_ENV=production
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/opt/orch/bin/orchctl"]
