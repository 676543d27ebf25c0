/**
 * Validation of a pod's status that does not depend on the old one. Upstream: validatePodIPs and similar functions.
 */
import type { PodStatus } from "../../core/api.ts";
import { duplicate, type FieldProblem, invalid, invalidEach } from "../../core/pod/fieldProblem.ts";
import { dnsSubdomain, ipAddress } from "../../core/pod/validateFormats.ts";

const NOT_NEGATIVE = "must be a non-negative integer";

/** Checks addresses, generations and the nominated node. */
export function* podStatusRules(status: PodStatus): Iterable<FieldProblem> {
  const { podIPs = [], hostIP, hostIPs = [], observedGeneration = 0, conditions = [], nominatedNodeName } = status;
  yield* addressProblems("status.podIPs", podIPs);
  yield* addressProblems("status.hostIPs", hostIPs);
  const [first] = hostIPs;
  if (first !== undefined && first.ip !== hostIP) {
    yield invalid("status.hostIPs[0].ip", first.ip, "must be equal to `hostIP`");
  }
  if (observedGeneration < 0) yield invalid("status.observedGeneration", observedGeneration, NOT_NEGATIVE);
  for (const [index, { observedGeneration: of = 0 }] of conditions.entries()) {
    if (of < 0) yield invalid(`status.conditions[${index}].observedGeneration`, of, NOT_NEGATIVE);
  }
  if (nominatedNodeName) {
    yield* invalidEach("status.nominatedNodeName", nominatedNodeName, dnsSubdomain(nominatedNodeName));
  }
}

function* addressProblems(field: string, list: readonly { readonly ip: string }[]): Iterable<FieldProblem> {
  const bad = list.flatMap(({ ip }, index) => invalidEach(`${field}[${index}]`, ip, ipAddress(ip)));
  yield* bad;
  if (bad.length > 0 || list.length < 2) return;
  const seen = new Set<string>();
  for (const [index, { ip }] of list.entries()) {
    if (seen.has(ip)) yield duplicate(`${field}[${index}]`, { ip });
    seen.add(ip);
  }
  const families = new Set(list.map(({ ip }) => ip.includes(":")));
  if (families.size < list.length) {
    const given = list.map(({ ip }) => ({ IP: ip }));
    yield invalid(field, given, "may specify no more than one IP for each IP family");
  }
}
