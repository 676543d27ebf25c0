/**
 * Approver and signer of a test cluster, as kube-controller-manager has them: looks at each certificate signing request
 * of a kubelet and really signs it. What should not be signed is denied, with the reason.
 */
import "reflect-metadata";
import { Pkcs10CertificateRequest } from "@peculiar/x509";
import type { Subscription } from "rxjs";
import type { SigningRequest } from "../../../src/core/cert/signingRequest.ts";
import { SUBJECT_ALT_NAME } from "./certificates.ts";
import type { HttpsApiServer } from "./httpsApiServer.ts";

/** Outcome of signing requests from now on. */
export type SigningPolicy =
  | { readonly kind: "sign"; readonly lifeMs: number }
  | { readonly kind: "wait" }
  | { readonly kind: "deny"; readonly reason: string };

/** The hand on the signer. */
export interface CertificateSigner {
  /** Names of the requests seen, in order. */
  readonly seen: readonly string[];
  /** Names of those that were signed. */
  readonly signed: readonly string[];
  /** Applies to requests that wait, too. */
  setPolicy(policy: SigningPolicy): void;
  stop(): void;
}

const RESOURCE = "certificatesigningrequests";
const SIGNERS: Readonly<Record<string, "client" | "server">> = {
  "kubernetes.io/kube-apiserver-client-kubelet": "client",
  "kubernetes.io/kubelet-serving": "server",
};
const USAGES = { client: "digital signature,client auth", server: "digital signature,server auth" } as const;

const pemOf = ({ spec }: SigningRequest): string => Buffer.from(spec.request, "base64").toString("utf8");

/** Why the real signer would not sign it. */
function fault(request: SigningRequest): string | undefined {
  const usage = SIGNERS[request.spec.signerName];
  if (usage === undefined) return `unknown signer ${request.spec.signerName}`;
  const parsed = new Pkcs10CertificateRequest(pemOf(request));
  const [commonName = ""] = parsed.subjectName.getField("CN");
  const names = parsed.getExtension(SUBJECT_ALT_NAME);
  const { username = "" } = request.spec;
  if (parsed.subjectName.getField("O").join() !== "system:nodes") return "subject organization is not system:nodes";
  if (!commonName.startsWith("system:node:")) return "subject common name does not begin with system:node:";
  if (username.startsWith("system:node:") && username !== commonName) return "a node asks for another node";
  if ((request.spec.usages ?? []).join() !== USAGES[usage]) return `usages ${(request.spec.usages ?? []).join()}`;
  if (usage === "client") return names === null ? undefined : "subjectAltNames are not allowed";
  if (username !== commonName) return "not asked for by the node itself";
  return names === null ? "DNS names or IP addresses are missing" : undefined;
}

/** Starts one. */
export function startCertificateSigner({ sim, authority }: HttpsApiServer, first: SigningPolicy): CertificateSigner {
  const seen: string[] = [];
  const signed: string[] = [];
  let policy = first;
  const deny = (request: SigningRequest, reason: string): void => {
    const conditions = [{ type: "Denied", status: "True", reason, message: "by the test" }];
    sim
      .client()
      .update(RESOURCE, { ...request, status: { conditions } }, { subresource: "approval" })
      .subscribe({ error: () => {} });
  };
  const handle = (request: SigningRequest): void => {
    const name = request.metadata?.name ?? "";
    const isOpen = (request.status?.conditions ?? []).length === 0;
    if (!isOpen || policy.kind === "wait") return;
    const reason = policy.kind === "deny" ? policy.reason : fault(request);
    if (reason !== undefined || policy.kind === "deny") {
      deny(request, reason ?? "");
      return;
    }
    const usage = SIGNERS[request.spec.signerName] ?? "client";
    void authority.sign(pemOf(request), usage, policy.lifeMs).then((certificate) => {
      sim.signCertificate(name, btoa(certificate));
      signed.push(name);
    });
  };
  const subscription: Subscription = sim.changes$.subscribe((change) => {
    if (change.resource !== RESOURCE || change.type !== "ADDED") return;
    seen.push(change.object.metadata.name);
    // Not within the write that it is about.
    queueMicrotask(() => {
      const request = sim.object(RESOURCE, { name: change.object.metadata.name });
      if (request !== undefined) handle(request);
    });
  });
  return {
    seen,
    signed,
    setPolicy(next) {
      policy = next;
      for (const request of sim.objects(RESOURCE)) handle(request);
    },
    stop: () => subscription.unsubscribe(),
  };
}
