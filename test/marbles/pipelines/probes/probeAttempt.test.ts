import { firstValueFrom, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { containerId } from "../../../../src/core/ids.ts";
import { attemptProbe } from "../../../../src/pipelines/probes/probeAttempt.ts";
import type { ExecProbeRequest, Probers } from "../../../../src/ports/probers.ts";
import { containerOf } from "../../../support/pods.ts";

function probing(command: readonly string[], value: string) {
  const asked: ExecProbeRequest[] = [];
  const never = () => NEVER;
  const probers: Probers = {
    exec: (request) => {
      asked.push(request);
      return of({ result: "success", output: "" });
    },
    http: never,
    tcp: never,
    grpc: never,
    httpHook: never,
  };
  const container = containerOf({ env: [{ name: "X", value: "old" }, { name: "X", value }, { name: "Y" }] });
  const attempt = { probe: { exec: { command: [...command] } }, container, containerId: containerId("c"), podIp: "" };
  return { asked, outcome: firstValueFrom(attemptProbe(attempt, probers)) };
}

describe("attemptProbe", () => {
  it("replaces references to variables of the manifest in a command", async () => {
    const { asked, outcome } = probing(["$(X)", "[$(Y)]", "$(Z)"], "new");
    await outcome;
    expect(asked.map(({ command }) => command)).toEqual([["new", "[]", "$(Z)"]]);
  });

  it("runs no command that is too long with its references replaced", async () => {
    const { asked, outcome } = probing(["$(X)$(X)", "$(X)$(X)$(X)$(X)$(X)"], "x".repeat(1024 * 1024));
    await expect(outcome).rejects.toMatchObject({
      code: "InvalidArgument",
      retryable: false,
      message: 'container "main": exec.command[1]: the command of a probe must be at most 6291456 bytes in all',
    });
    expect(asked).toEqual([]);
  });
});
