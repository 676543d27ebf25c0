/**
 * Rejects certificate requests that the real server rejects before it stores them. Upstream: the decoder, the
 * admission plugins NodeRestriction and CertificateSubjectRestriction, and validation, in this order.
 */
import "reflect-metadata";
import { Pkcs10CertificateRequest } from "@peculiar/x509";
import { type ApiIdentity, userName } from "../../../src/sim/apiServer/identity.ts";
import type { ApiObject } from "../../../src/core/apiObjects/storedObject.ts";
import { HttpRefusal } from "./answers.ts";

const RESOURCE = "certificatesigningrequests.certificates.k8s.io";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const NODE_SIGNERS = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

/** Rejects with 400, 403 or 422. */
export async function checkSigningRequest(object: ApiObject, identity: ApiIdentity): Promise<void> {
  const { request = "", signerName = "" } = object["spec"] as {
    readonly request?: string;
    readonly signerName?: string;
  };
  const name = object.metadata?.name ?? "";
  if (!BASE64.test(request)) {
    const kind = "CertificateSigningRequest";
    const why = "illegal base64 data at input byte 0";
    throw new HttpRefusal(400, "BadRequest", `${kind} in version "v1" cannot be handled as a ${kind}: ${why}`);
  }
  const refuse = (why: string) => new HttpRefusal(403, "Forbidden", `${RESOURCE} "${name}" is forbidden: ${why}`);
  const parsed = parse(Buffer.from(request, "base64").toString("utf8"));
  const subject = typeof parsed === "string" ? undefined : parsed.subjectName;
  const ofSubject = (field: string): readonly string[] => subject?.getField(field) ?? [];
  if (identity.kind === "node" && NODE_SIGNERS.includes(signerName)) {
    if (typeof parsed === "string") throw refuse(`unable to parse csr: ${parsed}`);
    const user = userName(identity);
    if (!ofSubject("CN").includes(user)) throw refuse(`can only create a node CSR with CN=${user}`);
  }
  if (signerName === CLIENT_SIGNER && ofSubject("O").includes("system:masters")) {
    throw refuse(`use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`);
  }
  const fault =
    typeof parsed === "string" ? parsed : (await parsed.verify()) ? undefined : "x509: ECDSA verification failure";
  if (fault === undefined) return;
  const what = `CertificateSigningRequest.certificates.k8s.io "${name}" is invalid`;
  throw new HttpRefusal(422, "Invalid", `${what}: spec.request: Invalid value: "${request}": ${fault}`);
}

/** The request, or why it is none. */
function parse(text: string): Pkcs10CertificateRequest | string {
  if (!text.includes("-----BEGIN CERTIFICATE REQUEST-----")) return "PEM block type must be CERTIFICATE REQUEST";
  try {
    return new Pkcs10CertificateRequest(text);
  } catch (thrown) {
    return `asn1: ${(thrown as Error).message}`;
  }
}
