@file:JvmName("Sessions")

package com.acme.session

import kotlinx.coroutines.delay
import kotlin.time.Duration

/** How long a session lives. */
const val LIFETIME = 3600

private val logger = LoggerFactory.getLogger("session")

typealias Handler = suspend (Session) -> Unit

/**
 * Keeps sessions in memory.
 *
 * @property limit how many there may be
 */
public class SessionStore<K : Any>(
    private val limit: Int = 100,
    clock: Clock,
) : Store<K>(clock), Closeable {
    private val sessions = mutableMapOf<K, Session>()

    /** Whether there is room for another session. */
    val hasRoom: Boolean
        get() = sessions.size < limit

    val newest by lazy { sessions.values.maxBy { it.started } }

    init {
        require(limit > 0) { "limit" }
    }

    /** Makes a store without a limit. */
    constructor(clock: Clock) : this(Int.MAX_VALUE, clock) {
        logger.info("no limit")
    }

    /**
     * Opens a session, and closes the oldest if there is no room.
     *
     * @throws IllegalStateException if it is closed
     */
    @Synchronized
    override suspend fun open(key: K, block: Handler?): Session {
        check(!isClosed) { "closed" }
        if (!hasRoom) {
            sessions.values.minByOrNull { it.started }?.close()
        }
        val session = Session(key.toString()).also { sessions[key] = it }
        block?.invoke(session)
        return session
    }

    // Closes all
    // sessions.
    override fun close() = sessions.values.forEach(Session::close)

    operator fun get(key: K): Session? = sessions[key]

    abstract fun restore(): Int

    companion object {
        /** The store of the program. */
        fun default(): SessionStore<String> = SessionStore(Clock.System)
    }

    inner class Cursor {
        fun next(): Session {
            fun advance(by: Int) = by + 1
            return sessions.values.elementAt(advance(0))
        }
    }
}

/** What stores sessions. */
interface Store<K> {
    /** Opens one. */
    suspend fun open(key: K): Session

    fun describe(): String = "a store of ${count()}"
}

fun interface Listener {
    fun heard(session: Session)
}

/** A session. */
data class Session(val name: String) {
    val started = now()
}

object Clocks : Iterable<Clock> {
    override fun iterator() = listOf(Clock.System).iterator()
}

enum class Level { LOW, HIGH }

sealed interface Event {
    data class Opened(val session: Session) : Event
    object Closed : Event
}

/** Waits, then closes it. */
suspend fun Session.closeAfter(pause: Duration) {
    delay(pause)
    this.close()
}

fun <T> List<T>.second(): T? = getOrNull(1)

val Session.age: Int
    get() = now() - started

inline fun <reified T> routes(path: String, crossinline block: T.() -> Unit) {
    val found = object : Listener {
        override fun heard(session: Session) = block(T())
    }
    register(path, found)
}

/** Forgets a session. */
@OptIn(Unsafe::class)
@Deprecated("close it")
fun forget(key: String) = store.remove(key)

/** The oldest session. */
@Volatile
internal var oldest: Session? = null
