import { type Mutant, withPorts } from "./mutant.ts";

/** Writes no checkpoint of devices that has fewer pods than the one before. */
export const keptDevices: Mutant = {
  bug: "the checkpoint of devices names pods that are gone",
  caughtBy: "devicesSettle",
  seed: 3,
  workload: "pinned",
  createKubelet: withPorts(({ files }) => {
    let entries = 0;
    return {
      files: {
        ...files,
        replaceFile: (path, content, mode) => {
          if (!path.endsWith("kubelet_internal_checkpoint")) return files.replaceFile(path, content, mode);
          const now = content.split("PodUID").length;
          if (now >= entries) entries = now;
          return now < entries
            ? files.makeDirectory(path.slice(0, path.lastIndexOf("/")))
            : files.replaceFile(path, content, mode);
        },
      },
    };
  }),
};
