FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY domain domain
COPY projections projections
COPY adapters adapters
COPY src src
COPY test test
RUN npm run build && npm prune --omit=dev && rm -rf dist/test

FROM node:20-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY bin bin
COPY docs docs
RUN mkdir -p /var/lib/quire && chown node:node /var/lib/quire
USER node
EXPOSE 8080
VOLUME /var/lib/quire
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=12 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/src/main.js"]
