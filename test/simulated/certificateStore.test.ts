import { of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { CertificateSource } from "../../src/core/api/clientConfig.ts";
import type { CertificateFacts } from "../../src/core/cert/certificateFacts.ts";
import { epochMs } from "../../src/core/ids.ts";
import { certificateStore } from "../../src/pipelines/certificates/certificateStore.ts";
import type { Certificates } from "../../src/ports/certificates.ts";
import { createSimFiles } from "../../src/sim/host/simFiles.ts";
import { simApi } from "../support/simApi.ts";

const block = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
const pair = (name: string) => ({ certificate: block("CERTIFICATE", name), key: block("EC PRIVATE KEY", name) });
const FAR = Number.MAX_SAFE_INTEGER;

/** A store in memory whose certificates expire at an instant. */
function setUp({ notAfter = FAR, fallback }: { notAfter?: number; fallback?: CertificateSource } = {}) {
  const { clock, run, refusal, scheduler } = simApi();
  const files = createSimFiles({ clock });
  const facts: CertificateFacts = {
    notBefore: epochMs(0),
    notAfter: epochMs(notAfter),
    commonName: "",
    organizations: [],
    dnsNames: [],
    ipAddresses: [],
  };
  let keys = 0;
  const certificates: Pick<Certificates, "newKey" | "read"> = {
    newKey: () => of(`key ${(keys += 1)}`),
    read: () => of(facts),
  };
  const store = certificateStore(
    { directory: "/pki", prefix: "kubelet-client", fallback },
    { files, certificates: certificates as Certificates, clock },
  );
  return { files, store, run, refusal, clock, scheduler, facts };
}

describe("certificateStore", () => {
  it("has nothing in an empty directory", () => {
    const { store, run } = setUp();
    expect(run(store.current())).toBeUndefined();
  });

  it("writes each pair to its own private file, and links to the newest", () => {
    const { files, store, run, scheduler, facts } = setUp();
    run(store.keep(pair("first")));
    scheduler.schedule(() => {}, 5_000);
    while (scheduler.runNext());
    run(store.keep(pair("second")));
    const dated = files.paths().filter((path) => /kubelet-client-\d/.test(path));
    expect([
      dated.length,
      dated.map((path) => files.at(path)).every((node) => node?.kind === "file" && node.mode === 0o600),
      files.at("/pki/kubelet-client-current.pem"),
      run(store.current()),
    ]).toEqual([
      2,
      true,
      expect.objectContaining({ kind: "symlink", target: dated[1] }),
      { identity: pair("second"), facts, isProvisional: false },
    ]);
  });

  it("rejects an expired pair", () => {
    const { files, store, refusal } = setUp({ notAfter: 1 });
    expect([refusal(store.keep(pair("late"))), files.paths().filter((path) => path.startsWith("/pki"))]).toEqual([
      "InvalidArgument/InvalidArgument: the certificate issued has expired already",
      [],
    ]);
  });

  it("uses the pair of the kubeconfig until it has its own; an inline pair is provisional", () => {
    const { certificate, key } = pair("given");
    const inline = setUp({ fallback: { certificate: { text: certificate }, key: { text: key } } });
    const named = setUp({ fallback: { certificate: { file: "/a.crt" }, key: { file: "/a.key" } } });
    const before = named.run(named.store.current());
    named.files.put("/a.crt", certificate);
    named.files.put("/a.key", key);
    const found = [inline, named].map(({ run, store }) => run(store.current()));
    inline.run(inline.store.keep(pair("own")));
    expect([before, ...found.map((held) => held?.isProvisional), inline.run(inline.store.current())?.identity]).toEqual(
      [undefined, true, false, pair("own")],
    );
  });

  it("writes an inline pair to its directory at once, for kubeadm, but not an expired one", () => {
    const { certificate, key } = pair("given");
    const fallback = { certificate: { text: certificate }, key: { text: key } };
    const [good, expired] = [setUp({ fallback }), setUp({ fallback, notAfter: 1 })];
    const kept = [good, expired].map(({ files, store, run }) => {
      run(store.current());
      return files.at("/pki/kubelet-client-current.pem")?.kind;
    });
    expect([...kept, good.run(good.store.current())?.identity]).toEqual(["symlink", undefined, pair("given")]);
  });

  it("fails when the current file has no pair", () => {
    const { files, store, refusal } = setUp();
    files.put("/pki/kubelet-client-current.pem", pair("half").certificate);
    expect(refusal(store.current())).toBe(
      "InvalidArgument/InvalidArgument: /pki/kubelet-client-current.pem has no certificate with its key",
    );
  });

  it("returns the same pending key until it is removed", () => {
    const { files, store, run } = setUp();
    const keys = [run(store.pendingKey()), run(store.pendingKey())];
    const node = files.at("/pki/kubelet-client.key.tmp");
    run(store.dropPendingKey());
    expect([...keys, run(store.pendingKey()), node?.kind === "file" && node.mode]).toEqual([
      "key 1",
      "key 1",
      "key 2",
      0o600,
    ]);
  });
});
