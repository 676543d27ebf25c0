import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TlsIdentity } from "../../../src/core/api/clientConfig.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";
import { certificateFiles } from "../../../src/sources/certificateFiles.ts";
import { createTestAuthority } from "../../support/apiServer/certificates.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

describe("certificateFiles", () => {
  const directory = temporaryDirectory();

  it("tells a pair when it changed, and never one that does not fit", async () => {
    const authority = await createTestAuthority();
    const [first, second] = [await authority.client({ commonName: "a" }), await authority.client({ commonName: "b" })];
    const [certificate, key] = [join(directory(), "tls.crt"), join(directory(), "tls.key")];
    const scheduler = createHeapScheduler();
    const reported: TlsIdentity[] = [];
    const problems: string[] = [];
    const looks = () => reported.length + problems.length;
    await writeFile(certificate, first.certificate);
    await writeFile(key, first.key);
    const source = { certificate: { file: certificate }, key: { file: key } };
    const subscription = certificateFiles(source, createSimClock(scheduler), ({ message }) =>
      problems.push(message),
    ).subscribe((identity) => reported.push(identity));
    await waitFor("the first pair", () => looks() === 1);
    await writeFile(certificate, second.certificate);
    await waitFor("the pair that does not fit", () => {
      scheduler.runNext();
      return problems.length === 1;
    });
    // The second look may have begun.
    expect(scheduler.now()).toBeLessThanOrEqual(20_000);
    await writeFile(key, second.key);
    await waitFor("the second pair", () => {
      scheduler.runNext();
      return reported.length === 2;
    });
    subscription.unsubscribe();
    expect([reported, problems[0]?.startsWith(`cannot use ${certificate}: `)]).toEqual([[first, second], true]);
  });
});
