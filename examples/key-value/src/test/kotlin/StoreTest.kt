import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path
import kotlin.test.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertNull
import kotlin.test.assertTrue

class StoreTest {
    @TempDir
    lateinit var directory: Path

    @Test
    fun `values are kept, replaced and removed`() {
        val store = Store(directory.resolve("store"))
        assertEquals(emptyList(), store.keys())
        store.put("a/../b", byteArrayOf(1, 2))
        store.put("", byteArrayOf())
        store.put("ä 魚", "old".toByteArray())
        store.put("ä 魚", "new".toByteArray())
        val again = Store(directory.resolve("store"))
        assertContentEquals(byteArrayOf(1, 2), again["a/../b"])
        assertContentEquals(byteArrayOf(), again[""])
        assertEquals("new", again["ä 魚"]?.decodeToString())
        assertNull(again["b"])
        assertEquals(setOf("a/../b", "", "ä 魚"), again.keys().toSet())
        assertTrue(again.remove(""))
        assertFalse(again.remove(""))
        assertNull(again[""])
    }

    @Test
    fun `a thousand values are one batch`() {
        val store = Store(directory)
        val values = (0..<1000).associate { "key $it" to "value $it".toByteArray() }
        store.putAll(values)
        assertEquals(values.keys, store.keys().toSet())
        val found = store.getAll(values.keys + "missing")
        assertEquals(values.mapValues { it.value.decodeToString() }, found.mapValues { it.value.decodeToString() })
    }
}
