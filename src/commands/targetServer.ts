/**
 * Finds the kubelet server that a command sends requests to: a running `rxlet dev` of this user, or the one in its
 * flags.
 */
import { realpath } from "node:fs/promises";
import path from "node:path";
import { catchError, type MonoTypeOperatorFunction, throwError } from "rxjs";
import type { KubeletTarget } from "../cli/targetFlags.ts";
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import { chooseDev } from "../core/dev/chooseDev.ts";
import { accessOf } from "../core/dev/devInstance.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../core/errors.ts";
import { valueOf } from "../core/result.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";
import { runningDevs } from "./devInstances.ts";

/** The server's address, and the credentials for it. */
export interface TargetServer {
  readonly url: string;
  readonly access: KubeletAccess;
  /** Set if no flag names the server and no `rxlet dev` runs: the URL is only the default. */
  readonly isGuess: boolean;
}

const NO_CREDENTIALS: KubeletAccess = {
  certificateAuthority: "",
  insecure: false,
  clientCertificate: "",
  clientKey: "",
  tokenFile: "",
};

/** Emits the server. Errors: NotFound or InvalidArgument if no single `rxlet dev` matches. */
export const targetServer = (target: KubeletTarget): Call<TargetServer> =>
  fromCall(async () => {
    if (target.kind === "server") return { url: target.url, access: target.access, isGuess: false };
    const chosen = valueOf(
      chooseDev(await runningDevs(), {
        dir: target.dir === undefined ? undefined : await withoutLinks(target.dir),
        kubeconfig: process.env["KUBECONFIG"] ?? "",
        cwd: await withoutLinks("."),
      }),
    );
    if (chosen === undefined) return { url: target.otherwise, access: NO_CREDENTIALS, isGuess: true };
    return { url: chosen.server, access: accessOf(chosen), isGuess: false };
  });

const withoutLinks = (directory: string): Promise<string> => realpath(directory).catch(() => path.resolve(directory));

/** Returns the error for a response that rejects the user (401, 403); undefined for other responses. */
export function refusalOf({ url }: TargetServer, status: number, said: string): KubeletError | undefined {
  if (status === 401)
    return kubeletError("PermissionDenied", `${url} needs credentials: give --client-certificate or --token-file`);
  return status === 403 ? kubeletError("PermissionDenied", `${url}: ${said}`) : undefined;
}

/** Replaces the error of an unreachable server by one with advice; `hint` names another possible cause. */
export const unanswered = <T>({ url, isGuess }: TargetServer, hint?: string): MonoTypeOperatorFunction<T> =>
  catchError((thrown: unknown) => {
    const { code, message } = toKubeletError(thrown);
    if (code !== "Unavailable") return throwError(() => thrown);
    const nothing = isGuess ? "you have no rxlet dev running, and " : "";
    const hints = [...(hint === undefined ? [] : [hint]), ...(isGuess ? ["--server names another kubelet"] : [])];
    const why = [`${nothing}no rxlet answers at ${url} (${message})`, ...hints].join("; ");
    return throwError(() => kubeletError("Unavailable", why));
  });
