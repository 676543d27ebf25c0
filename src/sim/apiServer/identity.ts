/** Identities of the clients of the simulated API server. */

/**
 * An administrator may do everything; a node what the Node authorizer and NodeRestriction leave it; whoever has a
 * bootstrap token may ask for a certificate.
 */
export type ApiIdentity =
  | { readonly kind: "admin" }
  | { readonly kind: "node"; readonly nodeName: string }
  | { readonly kind: "bootstrap"; readonly tokenId: string };

export const ADMIN: ApiIdentity = { kind: "admin" };

/** The user name of certificates and messages. */
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
