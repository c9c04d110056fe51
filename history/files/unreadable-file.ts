// Why a file cannot be read, as one sentence for the person who named it.

export class UnreadableFile extends Error {}
