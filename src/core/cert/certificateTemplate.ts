/**
 * The required fields of a certificate, and the check whether a certificate has them. Upstream: certSatisfiesTemplate
 * of client-go.
 */
import type { CertificateFacts } from "./certificateFacts.ts";

/** The fields of a certificate that its requester chooses. */
export interface CertificateTemplate {
  readonly commonName: string;
  readonly organization: string;
  readonly dnsNames: readonly string[];
  /** Canonical form. */
  readonly ipAddresses: readonly string[];
}

/** Returns the template of a node's client certificate: it names the node by its user name in the API server. */
export const nodeTemplate = (nodeName: string): CertificateTemplate => ({
  commonName: `system:node:${nodeName}`,
  organization: "system:nodes",
  dnsNames: [],
  ipAddresses: [],
});

const missing = (wanted: readonly string[], found: readonly string[]): readonly string[] =>
  wanted.filter((each) => !found.includes(each)).sort();

const listed = (names: readonly string[]): string => `[${names.join(" ")}]`;

/**
 * Returns the first requirement that the certificate does not meet, in upstream's text; undefined when it meets all.
 * Additional names are fine.
 */
export function shortcoming(facts: CertificateFacts, template: CertificateTemplate): string | undefined {
  if (facts.commonName !== template.commonName) {
    return `Current certificate CN (${facts.commonName}) does not match requested CN (${template.commonName})`;
  }
  const dnsNames = missing(template.dnsNames, facts.dnsNames);
  if (dnsNames.length > 0) return `Current certificate is missing requested DNS names ${listed(dnsNames)}`;
  const ipAddresses = missing(template.ipAddresses, facts.ipAddresses);
  if (ipAddresses.length > 0) return `Current certificate is missing requested IP addresses ${listed(ipAddresses)}`;
  const organizations = missing([template.organization], facts.organizations);
  return organizations.length === 0
    ? undefined
    : `Current certificate is missing requested orgs ${listed(organizations)}`;
}
