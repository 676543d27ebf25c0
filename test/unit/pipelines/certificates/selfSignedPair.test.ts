import { of } from "rxjs";
import { describe, expect, it } from "vitest";
import { selfSignedPair } from "../../../../src/pipelines/certificates/selfSignedPair.ts";
import type { Certificates } from "../../../../src/ports/certificates.ts";
import { createSimFiles } from "../../../../src/sim/host/simFiles.ts";
import { simApi } from "../../../support/simApi.ts";

const paths = { certificate: "/pki/kubelet.crt", key: "/pki/kubelet.key" };

function setUp() {
  const { clock, run, refusal } = simApi();
  const files = createSimFiles({ clock });
  let made = 0;
  const selfSigned = (host: string) => of({ certificate: `${host} ${(made += 1)}`, key: `key ${made}` });
  const pair$ = selfSignedPair(paths, "n1", { files, certificates: { selfSigned } as Certificates });
  const found = () => [files.read(paths.certificate), files.read(paths.key)];
  const mode = (path: string) => {
    const node = files.at(path);
    return node?.kind === "file" ? node.mode : undefined;
  };
  return { files, pair$, run, refusal, found, mode };
}

describe("selfSignedPair", () => {
  it("is made once and left alone from then on, its key for nobody else to read", () => {
    const { pair$, run, found, mode } = setUp();
    run(pair$);
    const first = found();
    run(pair$);
    expect([first, found(), mode(paths.certificate), mode(paths.key)]).toEqual([
      ["n1 1", "key 1"],
      ["n1 1", "key 1"],
      0o644,
      0o600,
    ]);
  });

  it("is recreated when an earlier try left a certificate without key", () => {
    const { files, pair$, run, found } = setUp();
    files.put(paths.certificate, "half");
    run(pair$);
    expect(found()).toEqual(["n1 1", "key 1"]);
  });

  it("does not touch a key that somebody put there without a certificate", () => {
    const { files, pair$, refusal, found } = setUp();
    files.put(paths.key, "theirs");
    expect([refusal(pair$), found()]).toEqual([
      "InvalidArgument/InvalidArgument: /pki/kubelet.key is there without /pki/kubelet.crt: they must be supplied as a pair",
      [undefined, "theirs"],
    ]);
  });
});
