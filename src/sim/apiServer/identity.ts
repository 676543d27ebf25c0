/** Who talks to the simulated API server. */

/** An administrator may do everything; a node what the Node authorizer and NodeRestriction leave it. */
export type ApiIdentity = { readonly kind: "admin" } | { readonly kind: "node"; readonly nodeName: string };

export const ADMIN: ApiIdentity = { kind: "admin" };

/** The user name of certificates and messages. */
export const userName = (identity: ApiIdentity): string =>
  identity.kind === "admin" ? "kubernetes-admin" : `system:node:${identity.nodeName}`;
