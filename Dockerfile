# Millrace alone: point NATS_URL and CLICKHOUSE_URL at servers of your own (compose.yaml does).
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm install --no-save --no-audit --no-fund
COPY . .
RUN node -e "import('./setup/prepare.mjs').then((setup) => setup.build())" \
  && npm prune --omit=dev --omit=optional --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production MILLRACE_HOST=0.0.0.0 MILLRACE_DATA=/data
ENV MALLOC_MMAP_THRESHOLD_=131072
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/package.json ./package.json
RUN mkdir -m 700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
CMD ["node", "--initial-old-space-size=96", "--expose-gc", "dist/main.js"]
