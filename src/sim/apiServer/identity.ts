/** Identities of the clients of the simulated API server. */

/**
 * An administrator may do everything; a node may do what the Node authorizer and NodeRestriction allow; a client with
 * a bootstrap token may request a certificate.
 */
export type ApiIdentity =
  | { readonly kind: "admin" }
  | { readonly kind: "node"; readonly nodeName: string }
  | { readonly kind: "bootstrap"; readonly tokenId: string };

export const ADMIN: ApiIdentity = { kind: "admin" };

/** Returns the user name in certificates and messages. */
export function userName(identity: ApiIdentity): string {
  switch (identity.kind) {
    case "admin":
      return "kubernetes-admin";
    case "node":
      return `system:node:${identity.nodeName}`;
    case "bootstrap":
      return `system:bootstrap:${identity.tokenId}`;
  }
}
