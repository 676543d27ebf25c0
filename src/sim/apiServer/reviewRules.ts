/**
 * Validation of reviews, which the API server answers and does not store. Upstream: validation of
 * authorization.k8s.io.
 */
import type { V1SubjectAccessReview, V1TokenReview } from "@kubernetes/client-node";
import type { Wire } from "../../core/api.ts";
import { type FieldProblem, invalid } from "../../core/pod/fieldProblem.ts";
import { badRequest, invalidObject } from "../../core/apiObjects/refusals.ts";

/** Checks a TokenReview; throws 400. */
export function checkTokenReview({ spec }: Wire<V1TokenReview>): void {
  if (!spec.token) throw badRequest("token is required for TokenReview in authentication");
}

/** Checks a SubjectAccessReview; throws 422. */
export function checkAccessReview(review: Wire<V1SubjectAccessReview>): void {
  const problems = [...accessProblems(review)];
  if (problems.length > 0) throw invalidObject("subjectaccessreviews", "", problems);
}

function* accessProblems({ metadata, spec }: Wire<V1SubjectAccessReview>): Iterable<FieldProblem> {
  const { resourceAttributes, nonResourceAttributes, user, groups = [] } = spec;
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const why = "cannot be specified in combination with resourceAttributes";
    yield invalid("spec.nonResourceAttributes", nonResourceAttributes, why);
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    yield invalid("spec.resourceAttributes", null, why);
  }
  if (!user && groups.length === 0) {
    yield invalid("spec.user", user ?? "", "at least one of user or group must be specified");
  }
  if (Object.keys(metadata ?? {}).length > 0) yield invalid("metadata", metadata, "must be empty");
}
