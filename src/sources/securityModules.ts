/** Reads which Linux security modules the kernel enforces, and the labels that the policy of SELinux gives to containers. */
import { usualFileLabel } from "../core/selinux/fileLabel.ts";
import type { Machine } from "../ports/host.ts";

type ReadText = (path: string) => Promise<string | undefined>;
type Modules = Pick<Machine, "appArmorEnabled" | "selinuxEnabled" | "selinuxFileLabel">;

/** Upstream: IsEnabled of runc's apparmor package and GetEnabled of go-selinux. */
export async function readSecurityModules(text: ReadText): Promise<Modules> {
  const isLoaded = (await text("/sys/module/apparmor/parameters/enabled"))?.startsWith("Y") === true;
  // Every process has the label of the kernel until a policy is loaded.
  const label = (await text("/proc/self/attr/current"))?.replaceAll("\0", "");
  const selinuxEnabled = (await text("/sys/fs/selinux/enforce")) !== undefined && label !== "kernel";
  return {
    appArmorEnabled: isLoaded && (await text("/sys/kernel/security/apparmor/profiles")) !== undefined,
    selinuxEnabled,
    selinuxFileLabel: selinuxEnabled ? await readFileLabel(text) : undefined,
  };
}

/** Contexts of the package container-selinux, which precede those of the policy. */
const CONTEXTS = "/usr/share/containers/selinux/contexts";
const CONFIG = "/etc/selinux/config";

/** Upstream: openContextFile and policyRoot of go-selinux. */
async function readFileLabel(text: ReadText): Promise<string | undefined> {
  const contexts = await text(CONTEXTS);
  if (contexts !== undefined) return usualFileLabel(contexts);
  const policy = /^SELINUXTYPE=([\w.-]+)/m.exec((await text(CONFIG)) ?? "")?.[1] ?? "targeted";
  return usualFileLabel((await text(`/etc/selinux/${policy}/contexts/lxc_contexts`)) ?? "");
}
