/** Pods that nobody wanted any more while the kubelet was down: only the runtime knows them. */
import { it } from "vitest";
import { at, container, deafToTerm, pod, runs, simulate, story } from "rxlet/sim";

it("are given a second for the hook their container remembers, and two for TERM", () => {
  const lifecycle = { preStop: { exec: { command: ["bye"] } } };
  const exec = () => ({ afterMs: 500, code: 0 });
  simulate({
    pods: [pod("web", { containers: [container("kind", { lifecycle }), container("deaf")] })],
    programs: { kind: { ...runs, exec }, deaf: deafToTerm },
    script: [
      at("10s").crashKubelet("10s"),
      at("15s").act("the manifest goes", (node) => node.dropManifest("default-web.json")),
    ],
    until: "1m",
    expect: [
      story("web", { only: /ExecSync|StopContainer|exited|sandbox removed/, since: "10s" }, [
        "10s deaf#0 StopContainer within 2 s",
        "10s kind#0 ExecSync",
        "10.5s kind#0 StopContainer within 2 s",
        "10.5s kind#0 exited code 143",
        "12s deaf#0 exited code 137",
        "12s sandbox removed",
      ]),
    ],
  });
});
