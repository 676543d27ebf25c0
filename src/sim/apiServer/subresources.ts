/** Requests with objects of their own: binding a pod to a node, eviction, tokens of service accounts, reviews. */
import type { ApiSubresources } from "../../core/api/apiResources.ts";
import type { Wire } from "../../core/api.ts";
import { invalid } from "../../core/pod/fieldProblem.ts";
import { parseInstant } from "../../core/time/civilTime.ts";
import type { ObjectRef } from "../../ports/apiServer.ts";
import type { V1SubjectAccessReview, V1TokenReview } from "@kubernetes/client-node";
import type { ApiWorld } from "./apiWorld.ts";
import { deleteObject } from "./deletion.ts";
import type { ApiIdentity } from "./identity.ts";
import { admitPodRemoval } from "./nodeRestriction.ts";
import { badRequest, conflict, forbidden, invalidObject, notFound } from "../../core/apiObjects/refusals.ts";
import { fieldAt, keyOf, type StoredObject } from "../../core/apiObjects/storedObject.ts";
import { checkAccessReview, checkTokenReview } from "./reviewRules.ts";
import { admitToken, type SimAccess } from "./tokenRestriction.ts";

type TokenRequest = ApiSubresources["serviceaccounts/token"];
type Condition = Readonly<Record<string, unknown>>;

/** Binds a pod without a node. Errors: 404; 409 if it has a node or is being deleted. */
export function bindPod(world: ApiWorld, ref: ObjectRef, nodeName: string): StoredObject {
  const pod = world.store.get("pods", keyOf(ref));
  if (pod === undefined) throw notFound("pods", ref.name);
  const bound = fieldAt(pod, "spec.nodeName");
  if (bound) throw conflict("pods", ref.name, `pod ${ref.name} is already assigned to node "${bound}"`);
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict("pods", ref.name, `pod ${ref.name} is being deleted, cannot be assigned to a host`);
  }
  const status = pod["status"] as { readonly conditions?: readonly Condition[] } | undefined;
  const others = (status?.conditions ?? []).filter(({ type }) => type !== "PodScheduled");
  const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: world.now() };
  return world.store.put("pods", {
    ...pod,
    spec: { ...(pod["spec"] as object), nodeName },
    status: { ...status, conditions: [...others, scheduled] },
  });
}

/** Deletes a pod for an eviction; disruption budgets are not simulated. */
export function evictPod(
  world: ApiWorld,
  identity: ApiIdentity,
  ref: ObjectRef,
  eviction: ApiSubresources["pods/eviction"],
): ApiSubresources["pods/eviction"] {
  const refusal = admitPodRemoval(world, identity, ref, "evict");
  if (refusal !== undefined) throw forbidden("pods", ref.name, refusal);
  const { gracePeriodSeconds, preconditions } = eviction.deleteOptions ?? {};
  deleteObject(world, "pods", ref, {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(preconditions === undefined ? {} : { preconditions }),
  });
  return eviction;
}

const DEFAULT_AUDIENCE = "https://kubernetes.default.svc";
const DEFAULT_LIFE_SECONDS = 3600;
const SHORTEST_LIFE_SECONDS = 600;
const LONGEST_LIFE_SECONDS = 2 ** 32;

/** Issues a token of a service account. Errors: 403, 404; 409 if the UID of the bound pod differs; 422. */
export function requestToken(
  server: { readonly world: ApiWorld; readonly mayAccess: SimAccess },
  identity: ApiIdentity,
  account: ObjectRef,
  request: TokenRequest,
): TokenRequest {
  const { world } = server;
  const refusal = admitToken(server, identity, account, request);
  if (refusal !== undefined) throw forbidden("serviceaccounts", account.name, refusal);
  const found = world.store.get("serviceaccounts", keyOf(account));
  if (found === undefined) throw notFound("serviceaccounts", account.name);
  const { boundObjectRef, expirationSeconds = DEFAULT_LIFE_SECONDS } = request.spec ?? {};
  const fault = lifeFault(expirationSeconds);
  if (fault !== undefined) {
    throw invalidObject("serviceaccounts", account.name, [invalid("spec.expirationSeconds", expirationSeconds, fault)]);
  }
  const { uid } = request.metadata ?? {};
  if (uid !== undefined && uid !== found.metadata.uid) {
    const why = `the UID in the token request (${uid}) does not match the UID of the service account (${found.metadata.uid})`;
    throw conflict("serviceaccounts", account.name, why);
  }
  if (boundObjectRef?.kind === "Pod") checkBoundPod(world, account, boundObjectRef);
  const audiences = request.spec?.audiences?.length ? request.spec.audiences : [DEFAULT_AUDIENCE];
  const expirationTimestamp = world.now(expirationSeconds);
  const claims = [account.namespace ?? "", account.name, found.metadata.uid, expirationTimestamp, world.suffix()];
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name: account.name, namespace: account.namespace ?? "", creationTimestamp: world.now() },
    spec: { ...request.spec, audiences, expirationSeconds },
    status: { token: `sim.${btoa(JSON.stringify([...claims, ...audiences]))}`, expirationTimestamp },
  };
}

function lifeFault(seconds: number): string | undefined {
  if (seconds < SHORTEST_LIFE_SECONDS) return "may not specify a duration less than 10 minutes";
  return seconds > LONGEST_LIFE_SECONDS ? "may not specify a duration larger than 2^32 seconds" : undefined;
}

type BoundObject = NonNullable<NonNullable<TokenRequest["spec"]>["boundObjectRef"]>;

function checkBoundPod(world: ApiWorld, account: ObjectRef, { name = "", uid }: BoundObject): void {
  const found = world.store.get("pods", keyOf({ ...account, name }));
  if (found === undefined) throw notFound("pods", name);
  if (fieldAt(found, "spec.serviceAccountName") !== account.name) {
    const why = `cannot bind token for serviceaccount "${account.name}" to pod running with different serviceaccount name.`;
    throw badRequest(why);
  }
  if (uid === undefined || uid === found.metadata.uid) return;
  const why = `the UID in the bound object reference (${uid}) does not match the UID in record`;
  throw conflict("pods", name, `${why}. The object might have been deleted and then recreated`);
}

function claimsOf(token: string): readonly string[] {
  try {
    return token.startsWith("sim.") ? (JSON.parse(atob(token.slice("sim.".length))) as string[]) : [];
  } catch {
    return [];
  }
}

/**
 * Authenticates a token: this server issued it, it has not expired, and its service account is the same. Errors: 400.
 */
export function reviewToken(world: ApiWorld, review: Wire<V1TokenReview>): Wire<V1TokenReview> {
  checkTokenReview(review);
  const [namespace = "", name = "", uid = "", until = "", , ...audiences] = claimsOf(review.spec.token ?? "");
  const account = world.store.get("serviceaccounts", keyOf({ namespace, name }));
  const isAlive = (parseInstant(until) ?? 0) > world.clock.wallTime() && account?.metadata.uid === uid;
  const wanted = review.spec.audiences ?? [DEFAULT_AUDIENCE];
  const shared = audiences.filter((audience) => wanted.includes(audience));
  if (!isAlive || shared.length === 0) return { ...review, status: { authenticated: false, error: "invalid token" } };
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  const username = `system:serviceaccount:${namespace}:${name}`;
  return { ...review, status: { authenticated: true, user: { username, uid, groups }, audiences: shared } };
}

/** Answers a SubjectAccessReview. Errors: 422. */
export function reviewAccess(mayAccess: SimAccess, review: Wire<V1SubjectAccessReview>): Wire<V1SubjectAccessReview> {
  checkAccessReview(review);
  return { ...review, status: { allowed: mayAccess(review.spec) } };
}
