/**
 * The nodes of a migrated volume: the CSI driver labels nodes with zones of its own, which replace the zones of
 * Kubernetes. Upstream: translateTopologyFromInTreeToCSI of k8s.io/csi-translation-lib.
 */
import type { Labels, Term } from "../admission/nodeSelection.ts";

type Requirement = NonNullable<Term["matchExpressions"]>[number];

const GA = { zone: "topology.kubernetes.io/zone", region: "topology.kubernetes.io/region" };
const BETA = { zone: "failure-domain.beta.kubernetes.io/zone", region: "failure-domain.beta.kubernetes.io/region" };

/** Separates the zones of a label. */
export const ZONE_DELIMITER = "__";

/** Labels of nodes that a CSI driver sets. */
export interface DriverTopology {
  readonly zone: string;
  /** undefined: the driver has no regions. */
  readonly region?: string;
}

/** Returns the terms in the driver's labels. A volume without terms gets those of its own labels. */
export function migratedTerms(
  terms: readonly Term[] | undefined,
  labels: Labels,
  driver: DriverTopology,
): readonly Term[] | undefined {
  const known = knownLabels(terms ?? [], labels);
  const zoned = withKey(terms, known.zone, driver.zone, zonesOf(labels[known.zone], driver));
  if (driver.region !== undefined) {
    return withKey(zoned, known.region, driver.region, zonesOf(labels[known.region], driver));
  }
  return known === BETA ? zoned?.map((term) => renamed(term, BETA.region, GA.region)) : zoned;
}

/** Terms count before labels, and current names before those of the beta. */
function knownLabels(terms: readonly Term[], labels: Labels): typeof GA {
  const isTerm = (key: string): boolean => terms.some((term) => requirementsOf(term).some((one) => one.key === key));
  if (isTerm(GA.zone)) return GA;
  if (isTerm(BETA.zone)) return BETA;
  return labels[GA.zone] === undefined && labels[BETA.zone] !== undefined ? BETA : GA;
}

/** A driver with regions has volumes of one zone. */
function zonesOf(label: string | undefined, { region }: DriverTopology): readonly string[] {
  const zones = region === undefined ? (label ?? "").split(ZONE_DELIMITER) : [label ?? ""];
  return [...new Set(zones.map((zone) => zone.trim()).filter((zone) => zone !== ""))].sort();
}

function withKey(
  terms: readonly Term[] | undefined,
  from: string,
  to: string,
  values: readonly string[],
): readonly Term[] | undefined {
  const hasValues = terms?.some((term) => requirementsOf(term).some((one) => one.key === from && hasSome(one)));
  if (hasValues === true) return terms?.map((term) => renamed(term, from, to));
  if (values.length === 0) return terms;
  const added: Requirement = { key: to, operator: "In", values: [...values] };
  const each = terms === undefined || terms.length === 0 ? [{}] : terms;
  return each.map((term) => ({ ...term, matchExpressions: [...requirementsOf(term), added] }));
}

const hasSome = ({ values = [] }: Requirement): boolean => values.length > 0;

const requirementsOf = ({ matchExpressions = [] }: Term): readonly Requirement[] => matchExpressions;

const renamed = (term: Term, from: string, to: string): Term => ({
  ...term,
  matchExpressions: requirementsOf(term).map((one) => (one.key === from ? { ...one, key: to } : one)),
});
