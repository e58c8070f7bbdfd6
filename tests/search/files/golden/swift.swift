import Foundation

/// How often a download is tried.
public let maxAttempts = 3

private var running = 0

/// Downloads files, several at a time.
///
/// - Note: Works in the background.
public final class Downloader<Output>: NSObject, Sendable where Output: Decodable {
    public typealias Completion = (Result<Output, Error>) -> Void

    static let shared = Downloader()

    private var tasks: [URL: Task<Output, Error>] = [:]

    /// The number of downloads that are not done.
    public var count: Int { tasks.count }

    public var limit: Int = 4 {
        didSet { resume() }
    }

    /// Makes a downloader.
    public init(session: URLSession = .shared) {
        self.session = session
        super.init()
    }

    deinit {
        tasks.values.forEach { $0.cancel() }
    }

    /// Downloads a file, and decodes it.
    ///
    /// - Parameter url: where it is
    /// - Throws: what the session throws
    @discardableResult
    public func download(_ url: URL, retries: Int = maxAttempts) async throws -> Output {
        guard retries > 0 else { throw DownloadError.tooOften(url) }
        let (data, response) = try await session.data(from: url)
        if let http = response as? HTTPURLResponse, http.statusCode != 200 {
            return try await download(url, retries: retries - 1)
        }
        return try JSONDecoder().decode(Output.self, from: data)
    }

    // Stops all
    // downloads.
    func cancel() {
        func stop(_ task: Task<Output, Error>) { task.cancel() }
        tasks.values.forEach(stop)
    }

    subscript(url: URL) -> Task<Output, Error>? {
        get { tasks[url] }
        set { tasks[url] = newValue }
    }

    static func == (left: Downloader, right: Downloader) -> Bool {
        left.tasks.keys == right.tasks.keys
    }
}

/// What can be downloaded.
public protocol Downloadable {
    associatedtype Body

    /// Its address.
    func address() -> URL
}

/// Why a download failed.
enum DownloadError: Error {
    case tooOften(URL)
    case noNetwork

    var message: String {
        switch self {
        case .tooOften(let url): return "too often: \(url)"
        case .noNetwork: return "no network"
        }
    }
}

/// Where a file is.
struct Place: Hashable {
    let folder: String

    mutating func move(to other: String) {
        self = Place(folder: other)
    }
}

extension Place: CustomStringConvertible {
    /// The folder in quotes.
    var description: String { "\"\(folder)\"" }

    func joined(_ name: String) -> String {
        [folder, name].joined(separator: "/")
    }
}

actor Log {
    func write(_ line: String) {
        print(line)
    }
}

/// Waits for all tasks.
func waitForAll(_ tasks: [Task<Void, Never>]) async {
    for task in tasks {
        await task.value
    }
}
