/** Credentials of API requests, refreshed while they are in use. */
import { of } from "rxjs";
import type { ApiProof } from "../../core/api/clientConfig.ts";
import type { ApiAuthorization } from "./createApiServer.ts";
import { type AuthorizationOptions, execAuthorization } from "./execAuthorization.ts";
import { tokenFileAuthorization } from "./tokenFileAuthorization.ts";

const always = (headers: Readonly<Record<string, string>>): ApiAuthorization => ({
  headers: () => of(headers),
  rejected: () => {},
});

/** Creates the credentials that the configuration selects. */
export function createAuthorization(proof: ApiProof, options: AuthorizationOptions): ApiAuthorization {
  switch (proof.kind) {
    case "none":
      return always({});
    case "token":
      return always(bearer(proof.token));
    case "basic":
      return always({
        authorization: `Basic ${Buffer.from(`${proof.username}:${proof.password}`).toString("base64")}`,
      });
    case "tokenFile":
      return tokenFileAuthorization(proof.file, options.clock);
    case "exec":
      return execAuthorization(proof.plugin, options);
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
