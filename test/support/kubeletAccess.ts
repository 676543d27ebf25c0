/** An API server that knows tokens and permissions, and nothing else: what the kubelet's server asks one for. */
import { defer, of, throwError } from "rxjs";
import { kubeletError } from "../../src/core/errors.ts";
import type { ApiServer } from "../../src/ports/apiServer.ts";

/** `verb subresource`, with `*` for any. */
export type Permission = string;

/** Users by their token, with what each may do. */
export type Users = Readonly<Record<string, readonly Permission[]>>;

/** The server, and how often it was asked. */
export interface AccessServer {
  readonly api: ApiServer;
  readonly reviews: { tokens: number; accesses: number };
  /** Turns it off and on. */
  setAway(isAway: boolean): void;
}

/** Tokens are the names of their users. */
export function accessServer(users: Users): AccessServer {
  const reviews = { tokens: 0, accesses: 0 };
  let isAway = false;
  const allows = (permissions: readonly Permission[] = [], verb: string, subresource: string): boolean =>
    permissions.some((permission) => {
      const [allowedVerb, allowed] = permission.split(" ");
      return (allowedVerb === "*" || allowedVerb === verb) && (allowed === "*" || allowed === subresource);
    });
  const answer = (resource: string, object: { readonly spec: Record<string, never> }) => {
    if (resource === "tokenreviews") {
      reviews.tokens += 1;
      const token = String(object.spec["token"]);
      const authenticated = Object.hasOwn(users, token);
      return { ...object, status: { authenticated, ...(authenticated ? { user: { username: token } } : {}) } };
    }
    reviews.accesses += 1;
    const { user, resourceAttributes } = object.spec as unknown as {
      readonly user: string;
      readonly resourceAttributes: { readonly verb: string; readonly subresource: string };
    };
    const { verb, subresource } = resourceAttributes;
    return { ...object, status: { allowed: allows(users[user], verb, subresource) } };
  };
  return {
    api: {
      create: (resource: string, object: never) =>
        defer(() =>
          isAway ? throwError(() => kubeletError("Unavailable", "connection refused")) : of(answer(resource, object)),
        ),
    } as unknown as ApiServer,
    reviews,
    setAway: (away) => {
      isAway = away;
    },
  };
}
