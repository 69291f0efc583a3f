# Bases are pinned by tag to a patch release; to pin by digest as well, give NODE_IMAGE=node:<tag>@sha256:…
# (`docker buildx imagetools inspect <tag>` shows it). Debian's perl-base is in it: parsers are confined by it.
ARG NODE_IMAGE=node:24.21.0-trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY engine/package.json engine/
COPY sdk/package.json sdk/
COPY console/package.json console/
COPY tools/absent tools/absent
RUN npm ci
COPY tsconfig.json ./
COPY tools/build tools/build
COPY engine engine
COPY sdk sdk
COPY console console
COPY domain domain
COPY projections projections
COPY adapters adapters
COPY src src
RUN npm run build -- --smallest && npm prune --omit=dev

FROM ${NODE_IMAGE}
# Reached from outside of the container, with a folder that is kept: the image runs without more settings.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/var/lib/quire
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/console/dist console/dist
# The package's name leads to the compiled code: `engine/dist` is a link to `dist/engine`.
COPY --from=build /app/engine/package.json engine/
RUN ln -s ../dist/engine engine/dist
COPY package.json LICENSE NOTICE ./
COPY bin bin
COPY docs docs
RUN mkdir -p /var/lib/quire && chown node:node /var/lib/quire
USER node
EXPOSE 8080
VOLUME /var/lib/quire
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=12 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.PORT+'/health/ready').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/main.js"]
