/** Builds SubjectAccessReviews and reads their answers. Upstream: apiserver's webhook authorizer. */
import type { V1SubjectAccessReviewStatus } from "@kubernetes/client-node";
import type { ApiObjects } from "../api/apiResources.ts";
import type { Wire } from "../api.ts";
import type { RequestUser } from "./requestUser.ts";

/** A question to the API server: may this user do this on this node? */
export interface AccessQuestion {
  readonly user: RequestUser;
  readonly verb: string;
  readonly subresource: string;
}

/** Returns the review to create. Equal questions give equal reviews. */
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

/** Returns whether the answer explicitly allows the request. */
export const isAllowed = (status: Wire<V1SubjectAccessReviewStatus> | undefined): boolean =>
  status?.allowed === true && status.denied !== true;
