/** Ephemeral containers: added to a pod that runs, joined to a container, never restarted, stopped with the rest. */
import { expect, it } from "vitest";
import { at, container, exits, fromApi, inOrder, never, pod, runs, type ScenarioPod, simulate } from "rxlet/sim";
import { NamespaceMode } from "../../src/gen/cri.ts";

const web = (...ephemeralContainers: readonly ReturnType<typeof container>[]): ScenarioPod =>
  fromApi(
    pod("web", {
      initContainers: [container("i")],
      containers: [container("main")],
      ephemeralContainers: [...ephemeralContainers],
    }),
  );
const debug = { ...container("debug"), targetContainerName: "main" };

it("start in the running pod, see the processes of their target, end for good, and nothing else is touched", () => {
  const seen: unknown[] = [];
  simulate({
    pods: [web()],
    programs: { i: exits(0, "1s"), main: runs, debug: exits(3, "5s"), shell: runs },
    script: [
      at("10s").put(web(debug)),
      at("20s").put(web(debug, container("shell"))),
      at("22s").act("look at the namespaces", ({ runtime }) => {
        const known = runtime.containers();
        const nameOf = (id: string): string => known.find((each) => each.id === id)?.config.metadata?.name ?? "";
        for (const { id, config } of known) {
          const { pid, targetId = "" } = config.linux?.securityContext?.namespaceOptions ?? {};
          seen.push([nameOf(id), pid, nameOf(targetId)]);
        }
      }),
      at("30s").delete("web", { grace: "5s" }),
    ],
    until: "1m",
    expect: [
      at("12s").container("web/debug").is("running"),
      at("19s").container("web/debug").hasExited(3),
      at("29s").container("web/debug").hasExited(3),
      at("29s").container("web/debug").hasRestarts(0),
      at("29s").container("web/shell").is("running"),
      at("29s").container("web/main").hasRestarts(0),
      at("29s").pod("web").is("Running"),
      never.event("web", "BackOff"),
      inOrder("web/debug#0 exited code 3", "web/shell#0 started", "web/shell#0 exited"),
    ],
  });
  expect(seen).toEqual([
    ["i", NamespaceMode.CONTAINER, ""],
    ["main", NamespaceMode.CONTAINER, ""],
    ["debug", NamespaceMode.TARGET, "main"],
    ["shell", NamespaceMode.CONTAINER, ""],
  ]);
});

it("whose target never ran say so, and the pod runs on", () => {
  simulate({
    pods: [web(debug)],
    programs: { i: exits(0, "20s"), main: runs, debug: runs },
    until: "1m",
    expect: [
      at("10s").container("web/debug").is("CreateContainerConfigError"),
      at("10s").pod("web").is("Pending"),
      at("59s").container("web/debug").is("running"),
      at("59s").pod("web").is("Running"),
    ],
  });
});
