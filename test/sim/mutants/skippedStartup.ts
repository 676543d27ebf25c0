import { map } from "rxjs";
import type { Container, Pod } from "../../../src/core/api.ts";
import { withPorts, type Mutant } from "./mutant.ts";

const withoutStartup = ({ startupProbe: _, ...container }: Container): Container => container;
const unprobed = (pod: Pod): Pod => ({
  ...pod,
  spec: { ...pod.spec, containers: pod.spec.containers.map(withoutStartup) },
});

/** Ignores startup probes. */
export const skippedStartup: Mutant = {
  bug: "a container is ready before its startup probe has succeeded",
  caughtBy: "startupGatesReady",
  createKubelet: withPorts(({ snapshots$ }) => ({
    snapshots$: snapshots$.pipe(map((snapshot) => ({ ...snapshot, pods: snapshot.pods.map(unprobed) }))),
  })),
};
