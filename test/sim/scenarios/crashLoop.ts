import { container, exits, pod, simulate, timeline } from "rxlet/sim";

const crash = exits(1, "5s");

const result = simulate({
  pods: [pod("web", { containers: [container("app")] })],
  // The ninth attempt lives for more than ten minutes: then the backoff resets.
  programs: { app: [crash, crash, crash, crash, crash, crash, crash, crash, exits(1, "11m"), crash] },
  until: "40m",
  expect: [
    timeline(
      "web/app",
      `w1s R5s R5s b10s R5s b20s R5s b40s R5s b1m20s R5s b2m40s R5s b5m R5s b5m
       R11m R5s b10s R5s b20s ...`,
    ),
  ],
});

console.log(result.diagram("30s"));
console.log(result.timeline("web/app"));
