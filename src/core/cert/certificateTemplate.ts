/** What a certificate is to say, and whether one at hand does. Counterpart: certSatisfiesTemplate of client-go. */
import type { CertificateFacts } from "./certificateFacts.ts";

/** The part of a certificate that whoever asks for it decides. */
export interface CertificateTemplate {
  readonly commonName: string;
  readonly organization: string;
  readonly dnsNames: readonly string[];
  /** In their shortest form. */
  readonly ipAddresses: readonly string[];
}

/** Names a node and nothing else: what it is known by at the API server. */
export const nodeTemplate = (nodeName: string): CertificateTemplate => ({
  commonName: `system:node:${nodeName}`,
  organization: "system:nodes",
  dnsNames: [],
  ipAddresses: [],
});

const missing = (wanted: readonly string[], found: readonly string[]): readonly string[] =>
  wanted.filter((each) => !found.includes(each)).sort();

const listed = (names: readonly string[]): string => `[${names.join(" ")}]`;

/** What the certificate lacks, in upstream's words; undefined when it says enough. More than was asked for is fine. */
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
