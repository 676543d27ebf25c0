import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { expect, it } from "vitest";
import { pairIn, pairText } from "../../../../src/core/cert/pemFile.ts";
import { certificateStore } from "../../../../src/pipelines/certificates/certificateStore.ts";
import { createCertificates } from "../../../../src/sinks/certificates.ts";
import { systemClock } from "../../../../src/sources/systemClock.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";
import { realFiles } from "../../../support/realFiles.ts";

const dir = temporaryDirectory();

it("a certificate that was kept is found again through the link to the newest one", async () => {
  const ports = { files: realFiles(), certificates: createCertificates(systemClock), clock: systemClock };
  const options = { directory: join(dir(), "pki"), prefix: "kubelet-client", fallback: undefined };
  const store = () => certificateStore(options, ports);
  expect(await lastValueFrom(store().current())).toBe(undefined);
  const identity = await lastValueFrom(ports.certificates.selfSigned("node"));
  await lastValueFrom(store().keep(identity));
  const found = await lastValueFrom(store().current());
  expect([found?.identity, found?.facts.commonName]).toEqual([
    pairIn(pairText(identity)),
    expect.stringMatching(/^node@\d+$/),
  ]);
  const key = await lastValueFrom(store().pendingKey());
  expect(await lastValueFrom(store().pendingKey())).toBe(key);
});
