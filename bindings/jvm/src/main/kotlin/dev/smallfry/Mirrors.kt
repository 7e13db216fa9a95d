package dev.smallfry

/** A kind of change that [Smallfry.mirrorTree] makes. */
// The native half knows them by their numbers.
public enum class Change {
    /** The entry is new. */
    Create,

    /** It has replaced an older file or link. */
    Update,

    /** The entry has stayed. Its permissions and times are new. */
    SetAttributes,

    /** It is gone. */
    Delete,
}

/** A change of one entry of a mirror. */
public class TreeChange internal constructor(
    public val change: Change,
    /** The path below both directories; empty for the directories themselves. */
    public val path: String,
) {
    override fun toString(): String = "$change $path"
}

/** The result of [Smallfry.mirrorTree]. */
public class MirrorReport private constructor(
    /** The counts of entries that were changed in any way, and the bytes of copied files. */
    public val changed: TreeCounts,
    /** The number of entries that were the same. */
    public val unchanged: Long,
    /** The number of entries that were deleted. */
    public val deleted: Long,
    /**
     * The changes that a dry run has found; empty for another call. A new directory comes before
     * its entries, a deleted one after them. Other entries have no order.
     */
    public val changes: List<TreeChange>,
) {
    override fun toString(): String = "$changed, $unchanged unchanged, $deleted deleted"

    internal companion object {
        /** Reads what `mirror.rs` has written. */
        fun read(outcome: Watch.Outcome): MirrorReport = with(outcome) {
            val changes = List(rest.int) { TreeChange(Change.entries[rest.get().toInt()], Failure.text(rest)) }
            MirrorReport(counts, unchanged, deleted, changes)
        }
    }
}
