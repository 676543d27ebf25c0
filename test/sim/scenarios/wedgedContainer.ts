import { at, between, by, container, fromApi, never, pod, simulate } from "rxlet/sim";

const result = simulate({
  pods: [
    fromApi(pod("stuck", { containers: [container("app")] })),
    fromApi(pod("web", { containers: [container("app")] })),
  ],
  script: [at("20s").wedge("stuck/app", "4m"), at("30s").delete("stuck", { grace: "10s" }), at("1m").kill("web/app")],
  until: "6m",
  expect: [
    // The kubelet repeats the stop, reports the container as running, and does not give up.
    between("30s", "4m19s").container("stuck/app").is("running"),
    by("5m").pod("stuck").isGone(),
    // Other pods do not wait for the wedged container.
    by("1m1s").container("web/app").hasRestarts(1),
    never.pod("web").is("Failed"),
  ],
});

console.log(result.diagram("10s"));
console.log(result.story("stuck", /StopContainer|exited|removed/).join("\n"));
