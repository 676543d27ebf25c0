/** What the API server is asked about a user, and how its answer reads. Counterpart: apiserver's webhook authorizer. */
import type { V1SubjectAccessReviewStatus } from "@kubernetes/client-node";
import type { ApiObjects } from "../api/apiResources.ts";
import type { Wire } from "../api.ts";
import type { RequestUser } from "./requestUser.ts";

/** A question: may this user do that with this node? */
export interface AccessQuestion {
  readonly user: RequestUser;
  readonly verb: string;
  readonly subresource: string;
}

/** The review to create. The same question is the same review. */
export const accessReview = (
  { user, verb, subresource }: AccessQuestion,
  nodeName: string,
): ApiObjects["subjectaccessreviews"] => ({
  spec: {
    user: user.name,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: user.groups,
    ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    resourceAttributes: {
      ...(verb === "" ? {} : { verb }),
      version: "v1",
      resource: "nodes",
      subresource,
      name: nodeName,
    },
  },
});

/** Only a clear yes is one. */
export const isAllowed = (status: Wire<V1SubjectAccessReviewStatus> | undefined): boolean =>
  status?.allowed === true && status.denied !== true;
