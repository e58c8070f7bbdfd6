defmodule Acme.Queue do
  @moduledoc """
  A queue of jobs.

  Jobs are run one after the other.
  """

  use GenServer
  alias Acme.{Job, Runner}
  require Logger

  @timeout 5_000

  @typedoc "The state."
  @type state :: %{jobs: list(), running: boolean()}

  defstruct jobs: [], running: false

  @doc """
  Starts a queue. Give it a name.

      iex> Acme.Queue.start_link(name: :mail)
  """
  @spec start_link(keyword()) :: GenServer.on_start()
  def start_link(options \\ []) do
    GenServer.start_link(__MODULE__, options, name: options[:name])
  end

  @doc "Adds a job."
  def push(queue, %Job{} = job) when is_pid(queue) do
    GenServer.call(queue, {:push, job}, @timeout)
  end

  def push(name, job), do: name |> Process.whereis() |> push(job)

  @doc ~S"""
  Whether nothing is left to do.
  """
  def empty?(%{jobs: []}), do: true
  def empty?(_state), do: false

  @impl true
  def init(options) do
    {:ok, %__MODULE__{running: Keyword.get(options, :running, true)}}
  end

  @impl true
  def handle_call({:push, job}, _from, state) do
    Logger.info("got #{job.name}")
    {:reply, :ok, %{state | jobs: state.jobs ++ [job]}}
  end

  def handle_call(:size, _from, state) do
    {:reply, length(state.jobs), state}
  end

  # Runs a job,
  # and logs how it ends.
  defp run(job) do
    with {:ok, result} <- Runner.run(job),
         :ok <- notify(result) do
      Enum.each(job.listeners, fn listener -> send(listener, result) end)
    else
      {:error, reason} -> Logger.error(reason)
    end
  end

  defp notify(_), do: :ok

  @doc false
  defmacro measured(name, do: block) do
    quote do
      {time, _} = :timer.tc(fn -> unquote(block) end)
      Logger.debug("#{unquote(name)}: #{time}")
    end
  end

  defguard is_job(term) when is_struct(term, Job)

  def left + right, do: Kernel.+(left, right)

  defdelegate stop(queue), to: GenServer

  defmodule Stats do
    @moduledoc "Counts jobs."

    @doc "The mean time of jobs."
    def mean(times), do: Enum.sum(times) / length(times)
  end
end

defprotocol Acme.Runnable do
  @doc "Runs it."
  def run(job)
end

defimpl Acme.Runnable, for: Acme.Job do
  def run(job), do: job.fun.()
end

defmodule Acme.Clock do
  @moduledoc "Tells the time."

  @zone "UTC"

  defmacro __using__(options) do
    quote do
      @behaviour Acme.Runnable
      @options unquote(options)
      defoverridable now: 0
    end
  end

  @doc false
  def now, do: :os.timestamp()

  @tries 3
  @decorate cached()
  def wait(jobs, run) do
    if Enum.empty?(jobs), do: run.(), else: Process.sleep(@tries)
    jobs |> Enum.map(&Acme.Queue.stop/1) |> hd
  end
end
