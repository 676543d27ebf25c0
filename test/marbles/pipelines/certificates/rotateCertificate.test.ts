import { concat, EMPTY, map, NEVER, type Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import type { HeldCertificate } from "../../../../src/core/cert/certificateFacts.ts";
import { type CertificateTemplate, nodeTemplate } from "../../../../src/core/cert/certificateTemplate.ts";
import { CLIENT_USE } from "../../../../src/core/cert/signingRequest.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import type { CertificateStore } from "../../../../src/pipelines/certificates/certificateStore.ts";
import { rotateCertificate, type RotationOptions } from "../../../../src/pipelines/certificates/rotateCertificate.ts";
import type { ApiServer } from "../../../../src/ports/apiServer.ts";
import type { Certificates } from "../../../../src/ports/certificates.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { type Marbles, marbles, TEST_EPOCH_MS } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const SECOND = 1_000;
/** Valid from frame 0 on, or from `fromS`, for this many seconds. */
const held = (name: string, lifeS: number, fromS = 0, more: Partial<HeldCertificate> = {}): HeldCertificate => ({
  identity: { certificate: name, key: "key" },
  facts: {
    notBefore: epochMs(TEST_EPOCH_MS + fromS * SECOND),
    notAfter: epochMs(TEST_EPOCH_MS + (fromS + lifeS) * SECOND),
    commonName: "system:node:n1",
    organizations: ["system:nodes"],
    dnsNames: [],
    ipAddresses: ["10.0.0.1"],
  },
  isProvisional: false,
  ...more,
});

interface Setup {
  /** On disk at each look; the last one stays. */
  readonly disk?: readonly (HeldCertificate | undefined)[];
  /** Outcomes of the attempts, in order: a certificate, or an error. The last one stays. */
  readonly tries?: readonly (HeldCertificate | string)[];
  /** A certificate that cannot be kept. */
  readonly unusable?: string;
  /** Number of requests with a broken key. */
  readonly brokenKeys?: number;
  readonly random?: number;
  readonly template$?: Observable<CertificateTemplate | undefined>;
  readonly issuer?: RotationOptions["issuer"];
}

/** A rotation whose attempts take 10 ms each; emits the names of certificates. */
function rotation({ cold, clock }: Marbles, { disk = [undefined], tries = [], random = 0, ...given }: Setup) {
  const failing = "10ms #";
  const issued = " 10ms (r|)";

  const [looks, outcomes] = [[...disk], [...tries]];
  let { brokenKeys: broken = 0 } = given;
  const asked: string[] = [];
  const ages: number[] = [];
  const next = <T>(list: T[]): T | undefined => (list.length > 1 ? list.shift() : list[0]);
  const telemetry = recordingTelemetry();
  const kept = new Map(tries.flatMap((each) => (typeof each === "string" ? [] : [[each.identity.certificate, each]])));
  const api = {
    create: (_resource: string, { metadata }: { readonly metadata: Readonly<Record<string, string>> }) => {
      asked.push(`${clock.monotonicMs()} ${metadata["name"] ?? metadata["generateName"]}`);
      const outcome = next(outcomes);
      if (outcome === undefined || typeof outcome === "string") {
        return cold(failing, {}, kubeletError("Unavailable", outcome ?? "none"));
      }
      const status = {
        conditions: [{ type: "Approved", status: "True" }],
        certificate: btoa(outcome.identity.certificate),
      };
      return cold(issued, { r: { metadata: { name: "r", uid: "u" }, spec: {}, status } });
    },
    watch: () => NEVER,
  } as unknown as ApiServer;
  const store: CertificateStore = {
    current: () => of(next(looks)),
    keep: ({ certificate }) => {
      const found = kept.get(certificate);
      return found === undefined || certificate === given.unusable
        ? throwError(() => kubeletError("InvalidArgument", "bad"))
        : of(found);
    },
    pendingKey: () => of("pending"),
    dropPendingKey: () => {
      asked.push(`${clock.monotonicMs()} drop`);
      return EMPTY;
    },
  };
  const certificates: Pick<Certificates, "newKey" | "request"> = {
    newKey: () => of("key"),
    request: () => {
      broken -= 1;
      return broken < 0
        ? of({ pem: "PEM", name: "node-csr-1" })
        : throwError(() => kubeletError("InvalidArgument", "key"));
    },
  };
  const options: RotationOptions = {
    use: CLIENT_USE,
    template$: given.template$ ?? concat(of(nodeTemplate("n1")), NEVER),
    store,
    issuer: given.issuer ?? ((holdsValid) => ({ api, isBootstrap: !holdsValid })),
    onFailure: () => telemetry.metrics.count("kubelet_certificate_manager_client_expiration_renew_errors"),
    onRotated: (ageSeconds) => ages.push(ageSeconds),
  };
  const ports = { certificates: certificates as Certificates, clock, rng: fixedRng(random), log: telemetry.log };
  const told$ = rotateCertificate(options, ports).pipe(map(({ identity }) => identity.certificate));
  const errors = () => telemetry.lines.filter(({ level }) => level === "error").map(({ fields }) => fields["error"]);
  return { told$, asked, ages, errors, telemetry };
}

describe("rotateCertificate", () => {
  for (const [random, deadline] of [
    [0, 700_000],
    [0.5, 800_000],
    [0.999, 899_800],
  ] as const) {
    it(
      `renews with its own certificate at the instant drawn between 70 % and 90 %: ${deadline} ms of 1000 s`,
      marbles((m) => {
        const unsub = "1000s !";

        const { told$, asked, ages } = rotation(m, {
          disk: [held("a", 1_000)],
          tries: [held("b", 10_000)],
          random,
        });
        m.expectObservable(told$, unsub).toBe(`a ${deadline + 9}ms b`, { a: "a", b: "b" });
        m.flush();
        expect([asked, ages]).toEqual([[`${deadline} csr-`], [(deadline + 10) / SECOND]]);
      }),
    );
  }

  it(
    "requests a missing certificate at once with the bootstrap credentials; key and name stay until it is stored",
    marbles((m) => {
      const unsub = "   100ms !";
      const expected = "10ms a";

      const { told$, asked, ages } = rotation(m, { tries: [held("a", 1_000)] });
      m.expectObservable(told$, unsub).toBe(expected, { a: "a" });
      m.flush();
      expect([asked, ages]).toEqual([["0 node-csr-1", "10 drop"], []]);
    }),
  );

  it(
    "retries 2, 4, 8, 16, 32 and 32 s after failures, and counts them",
    marbles((m) => {
      const unsub = "   100s !";
      const expected = "94070ms a";

      const { told$, asked, errors, telemetry } = rotation(m, {
        tries: ["1", "2", "3", "4", "5", "6", held("a", 1_000)],
      });
      m.expectObservable(told$, unsub).toBe(expected, { a: "a" });
      m.flush();
      expect([asked.map((line) => Number(line.split(" ")[0])), errors().length]).toEqual([
        [0, 2_010, 6_020, 14_030, 30_040, 62_050, 94_060, 94_070],
        6,
      ]);
      expect(telemetry.samples.get("kubelet_certificate_manager_client_expiration_renew_errors")).toBe(6);
    }),
  );

  it(
    "uses the bootstrap credentials when the certificate expired before its renewal",
    marbles((m) => {
      const unsub = "   30s !";
      const expected = "a 13029ms b";

      const { told$, asked } = rotation(m, { disk: [held("a", 10)], tries: ["1", "2", held("b", 100_000, 13)] });
      m.expectObservable(told$, unsub).toBe(expected, { a: "a", b: "b" });
      m.flush();
      expect(asked).toEqual(["7000 csr-", "9010 csr-", "13020 node-csr-1", "13030 drop"]);
    }),
  );

  it(
    "does not emit an expired certificate; without an issuer it logs that until a valid one is on disk",
    marbles((m) => {
      const unsub = "   10s !";
      const expected = "6s n";

      const expired = held("old", 10, -20);
      const { told$, errors } = rotation(m, {
        disk: [expired, expired, expired, held("new", 1_000)],
        issuer: () => undefined,
      });
      m.expectObservable(told$, unsub).toBe(expected, { n: "new" });
      m.flush();
      const at = "2025-12-31T23:59:50Z";
      const message = `the client certificate expired at ${at}, and there is no --bootstrap-kubeconfig to request another with`;
      expect(errors()).toEqual([kubeletError("PermissionDenied", message), kubeletError("PermissionDenied", message)]);
    }),
  );

  it(
    "renews a certificate of the kubeconfig at once, and uses it meanwhile",
    marbles((m) => {
      const unsub = "   100ms !";
      const expected = "i 9ms o";

      const { told$ } = rotation(m, {
        disk: [held("inline", 1_000, 0, { isProvisional: true })],
        tries: [held("own", 1_000)],
      });
      m.expectObservable(told$, unsub).toBe(expected, { i: "inline", o: "own" });
    }),
  );

  it(
    "removes the pending key when the certificate issued for it is unusable",
    marbles((m) => {
      const unsub = "   5s !";
      const expected = "2020ms g";

      const { told$, asked, errors } = rotation(m, {
        tries: [held("bad", 1_000), held("good", 1_000)],
        unusable: "bad",
      });
      m.expectObservable(told$, unsub).toBe(expected, { g: "good" });
      m.flush();
      expect([asked, errors()]).toEqual([
        ["0 node-csr-1", "10 drop", "2010 node-csr-1", "2020 drop"],
        [kubeletError("InvalidArgument", "bad")],
      ]);
    }),
  );

  it(
    "removes an invalid pending key",
    marbles((m) => {
      const unsub = "   5s !";
      const expected = "2010ms a";

      const { told$, asked } = rotation(m, { tries: [held("a", 1_000)], brokenKeys: 1 });
      m.expectObservable(told$, unsub).toBe(expected, { a: "a" });
      m.flush();
      expect(asked).toEqual(["0 drop", "2000 node-csr-1", "2010 drop"]);
    }),
  );

  it(
    "waits for a template; a new template replaces the request for the old one",
    marbles((m) => {
      const template = "5ms u 4ms a 4ms b";
      const unsub = "   100ms !";
      const expected = "o 24ms n";

      const addresses = (...ipAddresses: readonly string[]) => ({ ...nodeTemplate("n1"), ipAddresses });
      const template$ = m.hot(template, {
        u: undefined,
        a: addresses("10.0.0.1", "10.0.0.2"),
        b: addresses("10.0.0.3"),
      });
      const wanted = held("new", 1_000);
      const { told$, asked } = rotation(m, {
        disk: [held("old", 1_000)],
        tries: [{ ...wanted, facts: { ...wanted.facts, ipAddresses: ["10.0.0.3"] } }],
        template$,
      });
      m.expectObservable(told$, unsub).toBe(expected, { o: "old", n: "new" });
      m.flush();
      expect(asked).toEqual(["10 csr-", "15 csr-"]);
    }),
  );

  it(
    "requests once a second at most when signers keep omitting a name",
    marbles((m) => {
      const unsub = "   2500ms !";
      const expected = "a 9ms b 1009ms b 1009ms b";

      const template$ = concat(of({ ...nodeTemplate("n1"), dnsNames: ["never"] }), NEVER);
      const { told$, asked } = rotation(m, { disk: [held("a", 1_000)], tries: [held("b", 1_000)], template$ });
      m.expectObservable(told$, unsub).toBe(expected, { a: "a", b: "b" });
      m.flush();
      expect(asked).toEqual(["0 csr-", "1010 csr-", "2020 csr-"]);
    }),
  );
});
