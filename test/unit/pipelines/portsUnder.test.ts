import { firstValueFrom, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { VersionRequest } from "../../../src/gen/cri.ts";
import { portsUnder } from "../../../src/pipelines/portsUnder.ts";
import type { CallOptions } from "../../../src/ports/call.ts";
import type { KubeletPorts } from "../../../src/ports/kubeletPorts.ts";
import { recordingTracing } from "../../support/recordingTracing.ts";

/** A runtime as a class has it: its methods are not its own properties. */
class Runtime {
  readonly given: (CallOptions | undefined)[] = [];
  version(_request: unknown, options?: CallOptions) {
    this.given.push(options);
    return of("answer");
  }
}

const span = recordingTracing().start({ name: "work", scope: "test" });

describe("portsUnder", () => {
  it("gives each call the span as its parent, and keeps its deadline", async () => {
    const runtime = new Runtime();
    const ports = { runtime } as unknown as Pick<KubeletPorts, "runtime">;
    const under = portsUnder(ports, span);
    const request = VersionRequest.create();
    expect(await firstValueFrom(under.runtime.version(request, { deadlineMs: 5 }))).toBe("answer");
    await firstValueFrom(under.runtime.version(request));
    expect(runtime.given).toEqual([{ deadlineMs: 5, parent: span.context }, { parent: span.context }]);
  });

  it("leaves the other ports, and those without a span, as they are", () => {
    const ports = { runtime: new Runtime(), other: {} } as unknown as Pick<KubeletPorts, "runtime">;
    expect(portsUnder(ports, undefined)).toBe(ports);
    expect(portsUnder(ports, span)).toMatchObject({ other: {} });
    expect(portsUnder({}, span)).toEqual({});
  });
});
