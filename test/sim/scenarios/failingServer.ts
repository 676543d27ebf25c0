import { at, between, by, container, pod, simulate } from "rxlet/sim";

const result = simulate({
  pods: [
    pod("web", {
      containers: [
        container("app", {
          readinessProbe: { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 1 },
          livenessProbe: { httpGet: { path: "/live", port: 8080 }, periodSeconds: 5 },
        }),
      ],
    }),
  ],
  script: [
    at("10s").answer("web/app", { http: 503, path: "/ready" }),
    at("30s").answer("web/app", { http: 200, path: "/ready" }),
    // Paths without an answer of their own, here /live, now time out.
    at("40s").answer("web/app", { http: 200, takes: "1m" }),
    at("55s").answer("web/app", { http: 200 }),
  ],
  until: "70s",
  expect: [
    between("13s", "30s").container("web/app").isNotReady(),
    between("31s", "40s").container("web/app").isReady(),
    by("55s").event("web", "Unhealthy", "Liveness probe failed"),
    by("60s").container("web/app").hasRestarts(1),
  ],
});

console.log(result.diagram("1s"));
console.log(result.story("web", /Liveness|Killing|exited/).join("\n"));
