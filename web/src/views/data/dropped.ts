/** Files that a reader dropped or chose, also those in folders. */
export interface PickedFile {
  readonly file: File;
  /** Its folders and name as the reader sees them, such as `manuals/2026/pump.pdf`. */
  readonly path: string;
}

/** The files of a file field; one that takes folders says where each lies. */
export const pickedFiles = (files: FileList | null): PickedFile[] =>
  [...(files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }));

/** The files of a drop, folders read to their end. Must be called before the event handler first waits: browsers forget the drop then. */
export async function droppedFiles(transfer: DataTransfer): Promise<PickedFile[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return pickedFiles(transfer.files);
  const found: PickedFile[] = [];
  for (const entry of entries) await collect(entry, '', found);
  return found;
}

async function collect(entry: FileSystemEntry, folder: string, found: PickedFile[]): Promise<void> {
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ file, path });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader gives a part of its folder at a time, and an empty list at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return;
    for (const inner of entries) await collect(inner, `${path}/`, found);
  }
}
