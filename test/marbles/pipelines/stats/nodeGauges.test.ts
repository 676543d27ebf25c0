import { ignoreElements, map, merge, tap } from "rxjs";
import { describe, expect, it } from "vitest";
import type { ClaimInfo } from "../../../../src/core/dra/claimInfo.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry, type PodRecord } from "../../../../src/core/pod/podRegistry.ts";
import { nodeGauges } from "../../../../src/pipelines/stats/nodeGauges.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import { marbles } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const record = (uid: string, source: "file" | "api" | undefined, more: Partial<PodRecord> = {}): PodRecord => ({
  ...freshRecord({ uid: podUid(uid), name: uid, namespace: "demo" }),
  pod: source === undefined ? undefined : podOf({ uid, annotations: { "kubernetes.io/config.source": source } }),
  state: "syncing",
  ...more,
});

const claim: ClaimInfo = {
  namespace: "demo",
  name: "a",
  uid: "a",
  podUids: new Set(["p"]),
  drivers: new Map(),
  isPrepared: true,
};

describe("nodeGauges", () => {
  it(
    "sets a gauge when it is read, once for each change",
    marbles(({ cold, expectObservable, flush }) => {
      const claims = " --a--b------";
      const scrapes = "---x--x-x---|";
      const values = " ---1--0-.---|";
      const unsub = "  ------------!";
      const nothing = "";

      const [state, telemetry] = [createNodeState(), recordingTelemetry()];
      const name = 'dra_resource_claims_in_use{driver_name="<any>"}';
      const samples = telemetry.samples as Map<string, number>;
      const { changes$, update } = nodeGauges({ telemetry }, { hardware: undefined }, state);
      const set$ = cold(claims, { a: ["demo/a"], b: [] }).pipe(
        tap((keys) => state.claims.set(new Map(keys.map((key) => [key, claim])))),
        ignoreElements(),
      );
      const read$ = cold(scrapes).pipe(
        map(() => {
          samples.delete(name);
          update();
          return String(samples.get(name) ?? ".");
        }),
      );
      expectObservable(merge(set$, changes$), unsub).toBe(nothing);
      expectObservable(read$).toBe(values);
      flush();
    }),
  );

  it(
    "counts ephemeral containers of desired pods",
    marbles(() => {
      const [state, telemetry] = [createNodeState(), recordingTelemetry()];
      const debugger_ = { name: "debug", image: "i" };
      const spec = { containers: [], ephemeralContainers: [debugger_, { ...debugger_, name: "again" }] };
      const records = [
        record("a", "api", { pod: podOf({ uid: "a", spec }) }),
        record("b", "api", { pod: podOf({ uid: "b", spec }), wanted: false }),
      ];
      state.registry.set({ ...emptyRegistry, records: new Map(records.map((each) => [each.identity.uid, each])) });
      nodeGauges({ telemetry }, { hardware: undefined }, state).update();
      expect(telemetry.samples.get("kubelet_managed_ephemeral_containers")).toBe(2);
    }),
  );

  it(
    "counts static pods, API pods and mirror pods separately",
    marbles(() => {
      const [state, telemetry] = [createNodeState(), recordingTelemetry()];
      const going = { wanted: false, state: "terminating" } as const;
      const records = [
        record("a", "file"),
        record("b", "api"),
        record("c", "api", { state: "terminated" }),
        record("d", "file", going),
        record("e", undefined, going),
      ];
      state.registry.set({ ...emptyRegistry, records: new Map(records.map((each) => [each.identity.uid, each])) });
      const mirror = { metadata: { annotations: { "kubernetes.io/config.mirror": "a" } } };
      state.apiPodObjects.set({ byName: new Map(Object.entries({ "demo/a": mirror, "demo/b": {} })), version: "1" });
      nodeGauges({ telemetry }, { hardware: undefined }, state).update();
      const shown = [...telemetry.samples].filter(([name, value]) => value > 0 && name.includes("_pods"));
      expect(Object.fromEntries(shown)).toEqual({
        kubelet_mirror_pods: 1,
        'kubelet_desired_pods{static="true"}': 1,
        'kubelet_desired_pods{static=""}': 2,
        'kubelet_active_pods{static="true"}': 1,
        'kubelet_active_pods{static=""}': 1,
        'kubelet_working_pods{lifecycle="sync",config="desired",static="true"}': 1,
        'kubelet_working_pods{lifecycle="sync",config="desired",static=""}': 1,
        'kubelet_working_pods{lifecycle="terminating",config="orphan",static="true"}': 1,
        'kubelet_working_pods{lifecycle="terminating",config="runtime_only",static="unknown"}': 1,
        'kubelet_working_pods{lifecycle="terminated",config="desired",static=""}': 1,
      });
    }),
  );
});
