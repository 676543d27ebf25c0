import { NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import { createUserNamespaces } from "../../../../src/pipelines/node/userNamespaces.ts";
import type { Files } from "../../../../src/ports/files.ts";
import { simKubeletConfig } from "../../../../src/sim/simKubeletConfig.ts";
import { simMachine } from "../../../../src/sim/host/simMachine.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import { marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

describe("userNamespaces.load", () => {
  it(
    "waits 5 s for a disk that does not answer, then records running pods as pods with unknown IDs",
    marbles((m) => {
      const expected = "10s |";

      const state = createNodeState();
      const uid = podUid("a");
      const pod = { podUid: uid, name: "a", namespace: "demo", running: true, print: "" };
      state.listing.set({ pods: new Map([[uid, pod]]), owners: new Map() });
      const files = { list: () => of(["a", "b"]), readTail: () => NEVER } as unknown as Files;
      const ports = { files, clock: m.clock, telemetry: recordingTelemetry() };
      const userNamespaces = createUserNamespaces(ports, simKubeletConfig(simMachine()), state, state.idRanges);
      m.expectObservable(userNamespaces.load()).toBe(expected);
      m.flush();
      expect(state.idRanges.value).toEqual({
        usedBy: new Map(),
        unknown: new Map([[uid, "no end within 5000 ms"]]),
      });
    }),
  );
});
