import { at, container, during, inOrder, never, pod, simulate } from "rxlet/sim";

const result = simulate({
  pods: [pod("web", { containers: [container("app")] })],
  // The kubelet ends while the runtime creates the sandbox; the runtime completes the call.
  abandonedCalls: "complete",
  script: [during("RunPodSandbox", { of: "web" }).crashKubelet("5s")],
  until: "20s",
  expect: [
    inOrder("web RunPodSandbox", "web sandbox created", "web/app started"),
    at("20s").pod("web").isReady(),
    at("20s").container("web/app").hasRestarts(0),
    // The restarted kubelet finds and uses the sandbox.
    never.event("web", "SandboxChanged"),
  ],
});

console.log(result.diagram("1s"));
console.log(result.story("web", /Sandbox|sandbox|started/).join("\n"));
